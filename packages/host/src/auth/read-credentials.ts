/**
 * The bearer token of a request: `Authorization: Bearer <token>` or, for WebSocket clients in browsers, which cannot
 * set that header, the sub-protocol `bearer.<token>`.
 *
 * A token in the URL is refused even when it is right: URLs end up in histories, logs and Referer headers.
 */
import { ToolError } from '@tool-runtime/protocol';
import { MAX_TOKEN_BYTES, TOKEN_FORM } from './token-digest.ts';

/** An `IncomingMessage` fits. */
export interface CredentialSource {
  readonly rawHeaders: readonly string[];
  /** The request target as it came. */
  readonly url?: string | undefined;
}

const AUTHORIZATION = /^bearer +(\S+)$/i;
const SUB_PROTOCOL = 'bearer.';
const QUERY_NAMES: ReadonlySet<string> = new Set(['token', 'access_token', 'authorization', 'bearer']);

/** Undefined when none was given. Throws E_POLICY when the request carries one in a form or place that is refused. */
export function readCredentials(
  request: CredentialSource,
  { isUpgrade }: { readonly isUpgrade: boolean },
): string | undefined {
  refuseInQuery(request.url ?? '');
  const fromHeader = readAuthorization(headerValues(request.rawHeaders, 'authorization'));
  if (!isUpgrade) return fromHeader;
  const fromProtocol = readSubProtocol(headerValues(request.rawHeaders, 'sec-websocket-protocol'));
  if (fromHeader !== undefined && fromProtocol !== undefined && fromHeader !== fromProtocol) {
    throw refused('conflict', 'Two different tokens were given', 'send one, in the Authorization header');
  }
  return fromHeader ?? fromProtocol;
}

function readAuthorization(values: readonly string[]): string | undefined {
  const [value] = values;
  if (value === undefined) return undefined;
  if (values.length > 1) throw refused('malformed', 'More than one Authorization header', 'send one');
  const token = AUTHORIZATION.exec(value.trim())?.[1];
  if (token === undefined || !isTokenForm(token)) {
    throw refused('malformed', 'Authorization header is not a bearer token', 'send Authorization: Bearer <token>');
  }
  return token;
}

function readSubProtocol(values: readonly string[]): string | undefined {
  const offered = values.flatMap((value) => value.split(',')).map((word) => word.trim());
  const [bearer, ...more] = offered.filter((word) => word.startsWith(SUB_PROTOCOL));
  if (bearer === undefined) return undefined;
  if (more.length > 0) throw refused('malformed', 'More than one bearer sub-protocol', 'offer one');
  const token = bearer.slice(SUB_PROTOCOL.length);
  if (isTokenForm(token)) return token;
  throw refused('malformed', 'Sub-protocol is not a bearer token', 'offer bearer.<token> and tool-runtime.v1');
}

function isTokenForm(token: string): boolean {
  return token.length <= MAX_TOKEN_BYTES && TOKEN_FORM.test(token);
}

function refuseInQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  for (const name of new URLSearchParams(url.slice(start)).keys()) {
    if (!QUERY_NAMES.has(name.trim().toLowerCase())) continue;
    throw refused('token_in_url', 'Token in the URL is never accepted', 'send Authorization: Bearer <token> instead');
  }
}

function refused(reason: string, message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'auth', reason, next } });
}

/**
 * Every value of a header, in order, from Node's `rawHeaders` (names and values by turns).
 *
 * Node's `headers` keeps only the first of some and joins others with commas; two of what must be one is then no longer
 * seen.
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [key = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    if (key.length === name.length && key.toLowerCase() === name) values.push(value);
  }
  return values;
}
