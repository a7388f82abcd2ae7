/**
 * The ways a language server can fail us, as ToolErrors with one `details.reason` each.
 *
 * A server is a foreign program: its death, garbage and silence are retryable failures of a child, never the caller's
 * fault. What the caller can fix (a name the server refuses, a path outside) has a code of its own.
 */
import { type JsonObject, ToolError, type ToolErrorOptions } from '@tool-runtime/protocol';

const RETRYABLE = { kind: 'child_lifecycle_failure', retry: 'retryable' } as const;

export function notInstalled(
  provider: string,
  why: { readonly next: string; readonly reason: string; readonly cause?: unknown },
): ToolError {
  const { next, reason, cause } = why;
  return new ToolError('E_POLICY', `Language server cannot be started here: ${provider}`, {
    details: { kind: 'host_configuration_needed', retry: 'host_configuration_needed', provider, reason, next },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `reason`: start_failed, server_exited, memory_cap, server_silent, closed. */
export function serverGone(provider: string, reason: string, more: JsonObject = {}): ToolError {
  return new ToolError('E_INTERNAL', `Language server ended: ${provider}`, {
    details: { ...RETRYABLE, provider, reason, next: 'try again: it is started anew', ...more },
  });
}

export function coolingDown(provider: string, seconds: number, last: JsonObject): ToolError {
  return new ToolError('E_INTERNAL', `Language server keeps failing and rests: ${provider}`, {
    details: {
      ...RETRYABLE,
      ...last,
      provider,
      ...(last['reason'] === undefined ? {} : { last_reason: last['reason'] }),
      reason: 'server_cooldown',
      retry_after_s: seconds,
      next: `look at why it ends, or try again in ${seconds} s`,
    },
  });
}

export function malformedFrame(what: string): ToolError {
  return new ToolError('E_INTERNAL', `Language server broke the protocol: ${what}`, {
    details: { ...RETRYABLE, reason: 'malformed_frame', next: 'try again, or use another provider' },
  });
}

export function badAnswer(method: string, what: string): ToolError {
  return new ToolError('E_INTERNAL', `Language server gave an unusable answer: ${method}`, {
    details: { ...RETRYABLE, reason: 'bad_answer', what, next: 'try again, or use another provider' },
  });
}

/** `reason`: server_starting, server_indexing, request_timeout. */
export function tooLate(provider: string, reason: string): ToolError {
  const next =
    reason === 'request_timeout' ? 'ask for less, or allow more time' : 'try again later: the server keeps working';
  return new ToolError('E_TIMEOUT', `Language server did not answer in time: ${provider}`, {
    details: { kind: 'timeout', retry: 'retryable', provider, reason, next },
  });
}

export function cancelled(provider: string): ToolError {
  return new ToolError('E_INTERNAL', `Request to the language server was cancelled: ${provider}`, {
    details: { kind: 'cancellation', retry: 'retryable', provider, reason: 'cancelled' },
  });
}

export function outsideWorkspace(path: string): ToolError {
  return new ToolError('E_POLICY', `Path leaves the workspace: ${path}`, {
    path,
    details: {
      gate: 'workspace',
      rule: 'sec.paths.sandbox',
      next: 'name a file of the workspace, relative to its root',
    },
  });
}

export function refusedEdit(
  reason: string,
  message: string,
  options: ToolErrorOptions & { readonly next: string },
): ToolError {
  const { next, details, ...rest } = options;
  return new ToolError('E_AST_EDIT', message, { ...rest, details: { reason, next, ...details } });
}

export function badRequest(message: string, next: string, path?: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, {
    ...(path === undefined ? {} : { path }),
    details: { kind: 'tool_failure', retry: 'not_retryable', next },
  });
}
