/**
 * To whom the host shows itself: one judge for `Host`, `Origin` and `Sec-Fetch-Site`, and the CORS answers that follow.
 *
 * Nothing here ever allows credentials in the sense of CORS (cookies, client certificates): a page of another origin sends
 * its bearer token itself, or it has none. Cookies are for the console alone, which this host serves.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';

export interface ExposureOptions {
  /** What the host listens on; none for a Unix socket. */
  readonly addresses: readonly ListenAddress[];
  /** Further values of Host: `name`, with any port, or `name:port`. */
  readonly allowHosts?: readonly string[];
  /** Exact origins, or the single entry `*`. */
  readonly allowOrigins?: readonly string[];
  readonly isUnix?: boolean;
  readonly isTls?: boolean;
}

/** An `AddressInfo` fits. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/** One value, all values of a repeated header, or nothing. */
type HeaderValue = string | readonly string[] | undefined;

export interface ExposureHeaders {
  readonly host: HeaderValue;
  readonly origin?: HeaderValue;
  readonly secFetchSite?: HeaderValue;
}

export interface Exposure {
  /** The refusal (E_POLICY, gate `exposure`), or undefined for a request that may go on. */
  judge(headers: ExposureHeaders): ToolError | undefined;
  /** Whether `origin` is that of this host itself. Origins that the operator allows are not. */
  isOwnPage(headers: Pick<ExposureHeaders, 'host' | 'origin'>): boolean;
  /** For every answer: whether the page it goes to may read it. */
  corsHeaders(origin: string | undefined): Readonly<Record<string, string>>;
  /** For the answer to OPTIONS, judged before: without them the browser goes no further. */
  preflightHeaders(origin: string | undefined): Readonly<Record<string, string>>;
}

const EVERYONE = '*';
const WILDCARD_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
/** What pages of MCP clients have to read. */
const EXPOSED: Readonly<Record<string, string>> = { 'Access-Control-Expose-Headers': 'Mcp-Session-Id, Retry-After' };
const PREFLIGHT: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  // `*` would leave out Authorization.
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate',
  'Access-Control-Max-Age': '600',
};

/** Throws E_VALIDATION_FAIL for an allowed host or origin that is malformed. */
export function createExposure(options: ExposureOptions): Exposure {
  const isTls = options.isTls === true;
  const hosts: HostRules = {
    own: ownHosts(options.addresses),
    isUnix: options.isUnix === true,
    defaultPort: isTls ? 443 : 80,
    allowed: new Set((options.allowHosts ?? []).map(allowedHost)),
  };
  const origins: OriginRules = {
    scheme: isTls ? 'https' : 'http',
    allowed: allowedOrigins(options.allowOrigins ?? []),
  };

  function corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
    const normal = origin === undefined ? undefined : normalOrigin(origin);
    if (origin === undefined || normal === undefined || !isAllowed(normal, origins)) return { Vary: 'Origin' };
    if (origins.allowed === 'everyone') return { ...EXPOSED, 'Access-Control-Allow-Origin': EVERYONE };
    return { ...EXPOSED, 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
  }

  return {
    judge({ host, origin, secFetchSite }) {
      const values = valuesOf(host);
      const refusal = judgeHost(values, hosts);
      if (refusal !== undefined) return refusal;
      const judged = hosts.isUnix ? undefined : parseHost(values[0] ?? '');
      return judgeOrigin({ origin: valuesOf(origin), secFetchSite: valuesOf(secFetchSite), host: judged }, origins);
    },
    isOwnPage({ host, origin }) {
      const [[name, ...names], [page, ...pages]] = [valuesOf(host), valuesOf(origin)];
      if (hosts.isUnix || names.length > 0 || pages.length > 0 || name === undefined || page === undefined)
        return false;
      const own = parseHost(name);
      return own !== undefined && isOurs(own, hosts) && normalOrigin(page) === writeOrigin(origins.scheme, own);
    },
    corsHeaders,
    preflightHeaders(origin) {
      const headers = corsHeaders(origin);
      return 'Access-Control-Allow-Origin' in headers ? { ...headers, ...PREFLIGHT } : headers;
    },
  };
}

function valuesOf(value: HeaderValue): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** Loopback names are ours on every port we have; other literals only when we listen on exactly them. */
function ownHosts(addresses: readonly ListenAddress[]): ReadonlySet<string> {
  return new Set(
    addresses.flatMap(({ address, port }) => {
      const own = isIPv6(address) ? shortIPv6(address.replace(/%.*$/, '')) : address;
      const names = WILDCARD_ADDRESSES.has(own) ? LOOPBACK_NAMES : [...LOOPBACK_NAMES, own];
      return names.map((name) => formatHost({ name, port }));
    }),
  );
}

function allowedHost(text: string): string {
  const host = parseHost(text) ?? parseHost(`[${text}]`);
  if (host === undefined)
    throw badOption('Not a host name', text, 'write name, name:port, or an address; no wildcards');
  return formatHost(host);
}

function allowedOrigins(texts: readonly string[]): OriginRules['allowed'] {
  if (texts.length === 1 && texts[0] === EVERYONE) return 'everyone';
  return new Set(
    texts.map((text) => {
      const origin = normalOrigin(text);
      if (origin !== undefined) return origin;
      const next = text === EVERYONE ? 'let * stand alone, or leave it out' : 'write scheme://host:port; no wildcards';
      throw badOption('Not an origin', text, next);
    }),
  );
}

function badOption(problem: string, text: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `${problem}: ${text.slice(0, 100)}`, {
    details: { gate: 'exposure', reason: 'bad_option', next },
  });
}

interface HostName {
  /** Lower case, no brackets, no final dot; IPv6 in its shortest form. */
  readonly name: string;
  readonly port: number | undefined;
}

interface HostRules {
  /** With port, as `formatHost` writes them. */
  readonly own: ReadonlySet<string>;
  /** Then the loopback names are ours with any port, because there is no port to compare with. */
  readonly isUnix: boolean;
  /** What a Host without a port stands for. */
  readonly defaultPort: number;
  /** As `formatHost` writes them; without a port, any port will do. */
  readonly allowed: ReadonlySet<string>;
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

const MAX_HOST_LENGTH = 261;
const MAX_NAME_LENGTH = 253;
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Browsers read a name that ends in a number as an IPv4 address in one of its odd spellings. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/**
 * Which `Host` and `Origin` headers are accepted.
 *
 * `Host` is the guard against DNS rebinding, where a page's own name is made to point at us. Only our own names pass:
 * `localhost`, the loopback literals and the addresses we listen on, each with our port, and names the operator allows.
 * Other spellings of the same address (decimal, hex, mapped into IPv6) are refused: no client needs them.
 *
 * Undefined for anything but one host name or literal with an optional port.
 */
function parseHost(text: string): HostName | undefined {
  const match = text.length > MAX_HOST_LENGTH ? null : /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d*))?$/.exec(text);
  const [, written = '', digits] = match ?? [];
  const name = nameOf(written.toLowerCase());
  const port = digits === undefined ? undefined : portOf(digits);
  if (name === undefined || (digits !== undefined && port === undefined)) return undefined;
  return { name, port };
}

/** The refusal, or undefined when the request is for this host. */
function judgeHost(values: readonly string[], rules: HostRules): ToolError | undefined {
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

function formatHost({ name, port }: HostName): string {
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
function shortIPv6(literal: string): string {
  return new URL(`http://[${literal}]`).hostname.slice(1, -1);
}

function portOf(digits: string): number | undefined {
  const port = Number(digits);
  return PORT.test(digits) && port <= 65_535 ? port : undefined;
}

function refused(message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason: 'host_not_allowed', next } });
}

interface OriginRules {
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
function judgeOrigin({ origin, secFetchSite, host }: OriginHeaders, rules: OriginRules): ToolError | undefined {
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
function normalOrigin(text: string): string | undefined {
  const [, written = '', authority = ''] = ORIGIN.exec(text) ?? [];
  const scheme = written.toLowerCase();
  const host = parseHost(authority);
  return host === undefined ? undefined : writeOrigin(scheme, host);
}

function isAllowed(normal: string, { allowed }: OriginRules): boolean {
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
