/**
 * Which web pages may talk to us: those we serve ourselves, and origins the operator names.
 *
 * No `Origin` means no page, or one of ours: other pages send one, or at least say in `Sec-Fetch-Site` that they are
 * another's. `null` is what sandboxed frames and local files say; anybody can, so it is nobody.
 */
import { ToolError } from '@tool-runtime/protocol';
import { formatHost, type HostName, parseHost } from './judge-host.ts';

export interface OriginRules {
  readonly scheme: 'http' | 'https';
  /** As `normalOrigin` writes them; or everyone, without credentials. */
  readonly allowed: ReadonlySet<string> | 'everyone';
}

export interface OriginHeaders {
  readonly origin: readonly string[];
  readonly secFetchSite: readonly string[];
  /** The Host of the same request, judged already; undefined on a Unix socket, where no page of ours lives. */
  readonly host: HostName | undefined;
}

const ORIGIN = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^/?#@\\\s]+)$/i;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** The refusal, or undefined for a request that may go on. */
export function judgeOrigin({ origin, secFetchSite, host }: OriginHeaders, rules: OriginRules): ToolError | undefined {
  const [value] = origin;
  if (value === undefined) return judgeSite(secFetchSite);
  if (origin.length > 1) return refused(`Request has ${origin.length} Origin headers`, 'send one or none');
  if (value === 'null') return refused('Origin not allowed: null', 'open the page from a server, not from a file');
  const normal = normalOrigin(value);
  if (normal === undefined) return refused('Origin header is not an origin', 'send scheme://host:port or none');
  if (isAllowed(normal, rules)) return undefined;
  if (host !== undefined && normal === writeOrigin(rules.scheme, host)) return undefined;
  return refused(`Origin not allowed: ${normal}`, 'start the host with this origin allowed');
}

/** One spelling for an origin, without its default port; undefined for what is none. */
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

/** A page's image or form needs no Origin, but browsers still say whose page it is. */
function judgeSite(values: readonly string[]): ToolError | undefined {
  if (values.every((value) => OWN_SITES.has(value))) return undefined;
  return refused('Request comes from the page of another site', 'call the host from a program or an allowed origin');
}

function refused(message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason: 'origin_not_allowed', next } });
}
