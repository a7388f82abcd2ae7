/**
 * Which `Host` and `Origin` headers are accepted.
 *
 * `Host` is the guard against DNS rebinding, where a page's own name is made to point at us. Only our own names pass: `localhost`, the loopback literals and the addresses we listen on, each with our
 * port, and names the operator allows. Other spellings of the same address (decimal, hex, mapped into IPv6) are refused:
 * no client needs them.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';

export interface HostName {
  /** Lower case, no brackets, no final dot; IPv6 in its shortest form. */
  readonly name: string;
  readonly port: number | undefined;
}

export interface HostRules {
  /** With port, as `formatHost` writes them. */
  readonly own: ReadonlySet<string>;
  /** Then the loopback names are ours with any port: there is none to compare with. */
  readonly isUnix: boolean;
  /** What a Host without a port stands for. */
  readonly defaultPort: number;
  /** As `formatHost` writes them; without a port, any port will do. */
  readonly allowed: ReadonlySet<string>;
}

export const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

const MAX_HOST_LENGTH = 261;
const MAX_NAME_LENGTH = 253;
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Browsers read a name that ends in a number as an IPv4 address in one of its odd spellings. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** Undefined for anything but one host name or literal with an optional port. */
export function parseHost(text: string): HostName | undefined {
  const match = text.length > MAX_HOST_LENGTH ? null : /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d*))?$/.exec(text);
  const [, written = '', digits] = match ?? [];
  const name = nameOf(written.toLowerCase());
  const port = digits === undefined ? undefined : portOf(digits);
  if (name === undefined || (digits !== undefined && port === undefined)) return undefined;
  return { name, port };
}

/** The refusal, or undefined when the request is for this host. */
export function judgeHost(values: readonly string[], rules: HostRules): ToolError | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) {
    return refused(`Request has ${values.length} Host headers`, 'send exactly one Host header');
  }
  const host = parseHost(value);
  if (host === undefined) return refused('Host header is not a host name', 'send the address the host listens on');
  return isOurs(host, rules)
    ? undefined
    : refused(
        `Host not allowed: ${formatHost(host)}`,
        'use the address the host printed, or start it with this host allowed',
      );
}

export function formatHost({ name, port }: HostName): string {
  const written = name.includes(':') ? `[${name}]` : name;
  return port === undefined ? written : `${written}:${port}`;
}

function isOurs({ name, port }: HostName, rules: HostRules): boolean {
  const full = formatHost({ name, port: port ?? rules.defaultPort });
  if (rules.allowed.has(formatHost({ name, port: undefined })) || rules.allowed.has(full)) return true;
  return rules.isUnix ? LOOPBACK_NAMES.includes(name) : rules.own.has(full);
}

function nameOf(written: string): string | undefined {
  if (written.startsWith('[')) {
    const literal = written.slice(1, -1);
    return isIPv6(literal) ? shortIPv6(literal) : undefined;
  }
  const name = written.endsWith('.') ? written.slice(0, -1) : written;
  if (isIPv4(written)) return written;
  if (ENDS_IN_NUMBER.test(name) || name.length > MAX_NAME_LENGTH) return undefined;
  return name.split('.').every((label) => LABEL.test(label)) ? name : undefined;
}

/** As the URL parser normalizes it. */
export function shortIPv6(literal: string): string {
  return new URL(`http://[${literal}]`).hostname.slice(1, -1);
}

function portOf(digits: string): number | undefined {
  const port = Number(digits);
  return PORT.test(digits) && port <= 65_535 ? port : undefined;
}

function refused(message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason: 'host_not_allowed', next } });
}

export interface OriginRules {
  readonly scheme: 'http' | 'https';
  /** As `normalOrigin` writes them; or everyone, without credentials. */
  readonly allowed: ReadonlySet<string> | 'everyone';
}

interface OriginHeaders {
  readonly origin: readonly string[];
  readonly secFetchSite: readonly string[];
  /** The Host of the same request, checked already; undefined on a Unix socket, which serves no pages. */
  readonly host: HostName | undefined;
}

const ORIGIN = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^/?#@\\\s]+)$/i;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Which web pages may talk to us: those we serve ourselves, and origins the operator names.
 *
 * A request without `Origin` comes from no page or from one of ours: other pages send `Origin`, or at least a
 * `Sec-Fetch-Site` of another site. `Origin: null` comes from sandboxed frames and local files. Any page can send it, so
 * it is never allowed.
 *
 * The refusal, or undefined for a request that may go on.
 */
export function judgeOrigin({ origin, secFetchSite, host }: OriginHeaders, rules: OriginRules): ToolError | undefined {
  const [value] = origin;
  if (value === undefined) return judgeSite(secFetchSite);
  if (origin.length > 1) return refusedOrigin(`Request has ${origin.length} Origin headers`, 'send one or none');
  if (value === 'null')
    return refusedOrigin('Origin not allowed: null', 'open the page from a server, not from a file');
  const normal = normalOrigin(value);
  if (normal === undefined) return refusedOrigin('Origin header is not an origin', 'send scheme://host:port or none');
  if (isAllowed(normal, rules)) return undefined;
  if (host !== undefined && normal === writeOrigin(rules.scheme, host)) return undefined;
  return refusedOrigin(`Origin not allowed: ${normal}`, 'start the host with this origin allowed');
}

/** One spelling for an origin, without its default port; undefined for anything else. */
export function normalOrigin(text: string): string | undefined {
  const [, written = '', authority = ''] = ORIGIN.exec(text) ?? [];
  const scheme = written.toLowerCase();
  const host = parseHost(authority);
  return host === undefined ? undefined : writeOrigin(scheme, host);
}

export function isAllowed(normal: string, { allowed }: OriginRules): boolean {
  return allowed === 'everyone' || allowed.has(normal);
}

function writeOrigin(scheme: string, { name, port }: HostName): string {
  const isDefault = port === DEFAULT_PORTS[scheme];
  return `${scheme}://${formatHost({ name, port: isDefault ? undefined : port })}`;
}

/** A page's image or form needs no Origin, but browsers still name the site in `Sec-Fetch-Site`. */
function judgeSite(values: readonly string[]): ToolError | undefined {
  if (values.every((value) => OWN_SITES.has(value))) return undefined;
  return refusedOrigin(
    'Request comes from the page of another site',
    'call the host from a program or an allowed origin',
  );
}

function refusedOrigin(message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason: 'origin_not_allowed', next } });
}
