/**
 * `kind` and `retry` of an error: what went wrong, and what can be done about it. Every error on the wire has both.
 *
 * Whoever throws may say more closely what it is; this is what each code means where nothing closer is known.
 */
import type { ErrorCode, JsonObject } from './errors.ts';

interface ErrorClass {
  readonly kind: string;
  readonly retry: string;
}

const CLASSES: Readonly<Record<ErrorCode, ErrorClass>> = {
  E_FILE_IO: { kind: 'tool_failure', retry: 'not_retryable' },
  E_AST_PARSE: { kind: 'tool_failure', retry: 'not_retryable' },
  E_AST_EDIT: { kind: 'tool_failure', retry: 'not_retryable' },
  E_VALIDATION_FAIL: { kind: 'tool_failure', retry: 'not_retryable' },
  E_GIT: { kind: 'tool_failure', retry: 'not_retryable' },
  E_HTTP: { kind: 'tool_failure', retry: 'retryable' },
  E_SHELL: { kind: 'tool_failure', retry: 'not_retryable' },
  E_POLICY: { kind: 'policy_denial', retry: 'not_retryable' },
  E_TIMEOUT: { kind: 'timeout', retry: 'retryable' },
  E_INTERNAL: { kind: 'tool_failure', retry: 'repair_needed' },
};
const CANCELLED: ErrorClass = { kind: 'cancellation', retry: 'retryable' };

/** The details with `kind` and `retry`; those that are there already stay. */
export function withClass(code: ErrorCode, details: JsonObject = {}): JsonObject {
  if (details['kind'] !== undefined && details['retry'] !== undefined) return details;
  const isCancelled = code === 'E_INTERNAL' && details['reason'] === 'cancelled';
  return { ...details, ...(isCancelled ? CANCELLED : CLASSES[code]), ...given(details) };
}

function given({ kind, retry }: JsonObject): JsonObject {
  return { ...(kind === undefined ? {} : { kind }), ...(retry === undefined ? {} : { retry }) };
}
