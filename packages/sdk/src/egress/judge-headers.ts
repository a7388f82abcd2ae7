/**
 * Request lines and headers a caller may choose.
 *
 * What frames the message or steers the connection (Host, Content-Length, Transfer-Encoding …) is ours alone: letting a
 * caller set it would let one checked request carry a second, unchecked one.
 */
import { ToolError } from '@tool-runtime/protocol';

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
