/**
 * Request lines and headers a caller may choose.
 *
 * What frames the message or steers the connection (Host, Content-Length, Transfer-Encoding …) is ours alone: letting a
 * caller set it would let one checked request carry a second, unchecked one.
 */
import { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { isSecretHeader, isSecretName } from '../redaction/redact-words.ts';
import { hostAllowed } from './domain-entry.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible ASCII, Latin-1, blank and tab; neither line ends nor NUL. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const FORBIDDEN =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|upgrade|te|trailer|expect|http2-settings|proxy-.*)$/i;
/** These open tunnels or echo credentials back. */
const FORBIDDEN_METHODS: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 32 * 1024;

/** The method in upper case. Throws E_VALIDATION_FAIL for what is no method, E_POLICY for one that may not be used. */
export function judgeMethod(method: string): string {
  if (!TOKEN.test(method) || method.length > 32) throw malformed('Not an HTTP method', 'method');
  const upper = method.toUpperCase();
  if (FORBIDDEN_METHODS.includes(upper)) throw forbidden(`HTTP method may not be used: ${upper}`, 'method');
  return upper;
}

/** The headers with lower-case names. Values never appear in errors. */
export function judgeHeaders(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const judged = new Map<string, string>();
  let size = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) throw malformed('Header name is not a token', 'headers');
    if (FORBIDDEN.test(name)) throw forbidden(`Header is set by the runtime: ${name}`, `headers.${name}`);
    if (!VALUE.test(value)) throw malformed(`Header value holds forbidden characters: ${name}`, `headers.${name}`);
    const lower = name.toLowerCase();
    if (judged.has(lower)) throw malformed(`Header is given twice: ${lower}`, `headers.${name}`);
    judged.set(lower, value);
    size += name.length + value.length + 4;
  }
  if (judged.size > MAX_HEADERS || size > MAX_HEADER_BYTES) {
    throw malformed(`More than ${MAX_HEADERS} headers or ${MAX_HEADER_BYTES} bytes of them`, 'headers');
  }
  return judged;
}

function malformed(message: string, path: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { path, details: { gate: 'arguments' } });
}

function forbidden(message: string, path: string): ToolError {
  return new ToolError('E_POLICY', message, { path, details: { gate: 'http', next: 'leave it out' } });
}

const FIELD = 'network.insecure_credentials';
const HTTP_PORT = '80';

/**
 * Credentials travel encrypted: over plain http they are sent only to hosts the operator listed for it.
 *
 * Whether what is sent to this URL could be read on the way, and the operator did not allow it.
 */
export function needsEncryption(url: URL, insecureCredentials: readonly string[]): boolean {
  if (url.protocol !== 'http:') return false;
  return hostAllowed(insecureCredentials, `${url.hostname}:${url.port === '' ? HTTP_PORT : url.port}`) === undefined;
}

/** Throws E_POLICY for a header with a secret that would be sent in the clear. Its value is not named. */
export function judgeCredentials(
  url: URL,
  headers: ReadonlyMap<string, string>,
  insecureCredentials: readonly string[],
): void {
  if (!needsEncryption(url, insecureCredentials)) return;
  const header = [...headers.keys()].find(isSecretHeader);
  if (header !== undefined) throw unencrypted(`header ${header}`, url, `headers.${header}`);
}

/** The same for the query of a URL that a caller gave; what a server puts into a redirect is its own. */
export function judgeQuery(url: URL, insecureCredentials: readonly string[]): void {
  if (!needsEncryption(url, insecureCredentials)) return;
  const parameter = [...url.searchParams.keys()].find(isSecretName);
  if (parameter !== undefined) throw unencrypted(`query parameter ${parameter.slice(0, 64)}`, url, 'url');
}

export function unencrypted(what: string, { host }: URL, path: string) {
  return policyDenial(`Credentials would be sent over plain http (${what}): ${host}`, {
    path,
    details: {
      gate: 'egress',
      reason: 'insecure_credentials',
      field: FIELD,
      host,
      next: `use https, or have the operator list ${host} in ${FIELD}`,
    },
  });
}
