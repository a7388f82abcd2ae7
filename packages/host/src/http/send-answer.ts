/** Writes answers and refusals to Node's response directly, without a copy through web streams. */
import type { ServerResponse } from 'node:http';
import type { ErrorMessage } from '@tool-runtime/protocol';
import type { RouteAnswer } from './route.ts';

/** Nothing here is for caches, frames or guessing browsers. */
const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

export function sendText(outgoing: ServerResponse, status: number, text: string, type = 'application/json'): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.writeHead(status, {
    ...SAFE_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
}

export function sendAnswer(outgoing: ServerResponse, answer: RouteAnswer): void {
  if (answer === 'sent') return;
  if (answer.text !== undefined) sendText(outgoing, answer.status, answer.text, answer.type);
  else if (answer.json !== undefined) sendText(outgoing, answer.status, JSON.stringify(answer.json), answer.type);
  else sendEmpty(outgoing, answer.status);
}

export function sendError(outgoing: ServerResponse, error: ErrorMessage): void {
  const status = statusOf(error);
  for (const [name, value] of Object.entries(headersOf(error))) outgoing.setHeader(name, value);
  sendText(outgoing, status, JSON.stringify(error));
}

function sendEmpty(outgoing: ServerResponse, status: number): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.writeHead(status, SAFE_HEADERS);
  outgoing.end();
}

const BY_REASON: Readonly<Record<string, number>> = {
  // Of a folder that the request names.
  ENOENT: 400,
  ENOTDIR: 400,
  ELOOP: 400,
  ENAMETOOLONG: 400,
  EACCES: 403,
  EPERM: 403,
  token_missing: 401,
  token_invalid: 401,
  token_expired: 401,
  token_in_url: 400,
  code_invalid: 401,
  console_key: 401,
  signed_out: 401,
  foreign_page: 403,
  malformed: 400,
  conflict: 400,
  scope_missing: 403,
  session_token: 403,
  workspace_not_allowed: 403,
  unknown_session: 404,
  session_closed: 404,
  session_expired: 404,
  unknown_approval: 404,
  unknown_call: 404,
  server_not_mounted: 404,
  no_fleet: 404,
  unknown_route: 404,
  never_received: 404,
  answer_gone: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_answered: 409,
  definition_changed: 409,
  already_detached: 409,
  children_open: 409,
  request_id_reused: 409,
  too_large: 413,
  limit_reached: 429,
  busy: 429,
  auth_limited: 429,
  headers_too_large: 431,
  draining: 503,
  starting: 503,
  no_host: 503,
  host_lost: 503,
};

const BY_CODE: Partial<Record<ErrorMessage['code'], number>> = {
  E_VALIDATION_FAIL: 400,
  E_POLICY: 403,
  // Of a mounted server: a program, or an address.
  E_SHELL: 502,
  E_HTTP: 502,
};

/** The HTTP status that goes with a refusal. The reason decides; the code alone is too coarse for HTTP. */
export function statusOf({ code, details }: ErrorMessage): number {
  const reason = details?.['reason'];
  return (typeof reason === 'string' ? BY_REASON[reason] : undefined) ?? BY_CODE[code] ?? 500;
}

/** Headers that go with a refusal. */
export function headersOf(error: ErrorMessage): Readonly<Record<string, string>> {
  const status = statusOf(error);
  const { retry_after_ms: wait, reason } = error.details ?? {};
  return {
    ...(status === 401 ? { 'www-authenticate': 'Bearer realm="tool-runtime"' } : {}),
    ...(typeof wait === 'number' ? { 'retry-after': String(Math.ceil(wait / 1000)) } : {}),
    // The rest of a body that was not read cannot be distinguished from the next request, so the client has to reconnect.
    ...(status === 413 || reason === 'auth_limited' ? { connection: 'close' } : {}),
  };
}
