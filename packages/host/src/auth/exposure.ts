/**
 * To whom the host shows itself: one judge for `Host`, `Origin` and `Sec-Fetch-Site`, and the CORS answers that follow.
 *
 * Nothing here ever allows credentials in the sense of CORS (cookies, client certificates): a page sends its bearer
 * token itself, or it has none.
 */
import { isIPv6 } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import {
  formatHost,
  type HostRules,
  isAllowed,
  judgeHost,
  judgeOrigin,
  LOOPBACK_NAMES,
  normalOrigin,
  type OriginRules,
  parseHost,
  shortIPv6,
} from './host-and-origin.ts';

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

/** Throws E_VALIDATION_FAIL for an allowed host or origin that is none. */
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
