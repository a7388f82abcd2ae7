/** The HTTP status that goes with a refusal. The reason decides; the code alone is too coarse for HTTP. */
import type { ErrorMessage } from '@tool-runtime/protocol';

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
  malformed: 400,
  conflict: 400,
  scope_missing: 403,
  session_token: 403,
  workspace_not_allowed: 403,
  unknown_session: 404,
  session_closed: 404,
  session_expired: 404,
  unknown_approval: 404,
  unknown_route: 404,
  never_received: 404,
  answer_gone: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_answered: 409,
  already_detached: 409,
  children_open: 409,
  request_id_reused: 409,
  too_large: 413,
  limit_reached: 429,
  auth_limited: 429,
  headers_too_large: 431,
  draining: 503,
  starting: 503,
};

const BY_CODE: Partial<Record<ErrorMessage['code'], number>> = { E_VALIDATION_FAIL: 400, E_POLICY: 403 };

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
    // The rest of a body that was not read cannot be told from the next request; who keeps failing has to come again.
    ...(status === 413 || reason === 'auth_limited' ? { connection: 'close' } : {}),
  };
}
