/**
 * The failure kinds of the package and routing layer, as ToolErrors.
 *
 * `details.kind` says what went wrong, `details.retry` who can mend it; the wire code follows from the kind.
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
