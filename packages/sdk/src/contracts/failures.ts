/**
 * Failures as ToolErrors. `details.kind` says what went wrong, `details.retry` what can be done about it; the wire code
 * follows from the kind.
 *
 * A refusal (E_POLICY) and a cancellation always reach the caller with the same keys in `details`: `gate`, `reason`,
 * `kind`, `retry` and `next`. Where an error becomes an answer, `completeRefusal` adds what it lacks.
 */
import { type ErrorCode, type JsonObject, ToolError } from '@tool-runtime/protocol';

export const FAILURE_KINDS = [
  'invalid_package',
  'invalid_state_transition',
  'tool_failure',
  'approval_failure',
  'policy_denial',
  'journal_failure',
  'isolation_failure',
  'subagent_failure',
  'cancellation',
  'child_lifecycle_failure',
  'hook_failure',
  'timeout',
  'recovery_repair_needed',
  'host_configuration_needed',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export const RETRY_CLASSES = [
  'retryable',
  'not_retryable',
  'repair_needed',
  'user_action_needed',
  'host_configuration_needed',
] as const;
export type RetryClass = (typeof RETRY_CLASSES)[number];

const CODES: Readonly<Record<FailureKind, ErrorCode>> = {
  invalid_package: 'E_VALIDATION_FAIL',
  invalid_state_transition: 'E_VALIDATION_FAIL',
  tool_failure: 'E_INTERNAL',
  approval_failure: 'E_POLICY',
  policy_denial: 'E_POLICY',
  journal_failure: 'E_INTERNAL',
  isolation_failure: 'E_POLICY',
  subagent_failure: 'E_INTERNAL',
  cancellation: 'E_INTERNAL',
  child_lifecycle_failure: 'E_INTERNAL',
  hook_failure: 'E_POLICY',
  timeout: 'E_TIMEOUT',
  recovery_repair_needed: 'E_INTERNAL',
  host_configuration_needed: 'E_POLICY',
};

export interface FailureOptions {
  readonly path?: string;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

export function failure(
  kind: FailureKind,
  retry: RetryClass,
  message: string,
  options: FailureOptions = {},
): ToolError {
  const { details, ...rest } = options;
  return new ToolError(CODES[kind], message, { ...rest, details: { kind, retry, ...details } });
}

export function missingField(field: string): ToolError {
  return failure('invalid_package', 'host_configuration_needed', `Required field is missing: ${field}`, {
    path: field,
    details: { field },
  });
}

export function contractViolation(message: string, details: JsonObject = {}): ToolError {
  return failure('invalid_state_transition', 'repair_needed', message, { details });
}

export function policyDenial(message: string, options: FailureOptions = {}): ToolError {
  return failure('policy_denial', 'not_retryable', message, options);
}

/** Has the code E_INTERNAL, because the list of codes is closed, but is not a failure of the runtime. */
export function cancellation(message = 'Call was cancelled', options: FailureOptions = {}): ToolError {
  const details = { reason: 'cancelled', ...options.details };
  return completeRefusal(failure('cancellation', 'retryable', message, { ...options, details }));
}

export function isCancellation({ details }: Pick<ToolError, 'details'>): boolean {
  return details['reason'] === 'cancelled';
}

const REFUSED = {
  gate: 'runtime',
  kind: 'policy_denial',
  retry: 'not_retryable',
  next: 'do not repeat the call unchanged; change it, or ask the operator to allow it',
};
const CANCELLED = {
  gate: 'caller',
  kind: 'cancellation',
  retry: 'retryable',
  next: 'send the call again if it is still wanted',
};

/** The same error with all keys of a refusal or cancellation; any other error as it is. */
export function completeRefusal(error: ToolError): ToolError {
  const isCancelled = error.code === 'E_INTERNAL' && isCancellation(error);
  if (error.code !== 'E_POLICY' && !isCancelled) return error;
  const rule = error.details['rule'];
  const reason = typeof rule === 'string' ? rule : 'not_allowed';
  const details: JsonObject = { ...(isCancelled ? CANCELLED : { ...REFUSED, reason }), ...error.details };
  if (Object.keys(details).length === Object.keys(error.details).length) return error;
  return new ToolError(error.code, error.message, {
    ...(error.path === undefined ? {} : { path: error.path }),
    details,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  });
}
