/** Failures between a client and its host: how they are worded, sent on, and told apart. */
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import { type JsonObject, ToolError, withClass } from '../primitives/errors.ts';

export function fromErrorMessage({ code, message, details }: ErrorMessage): ToolError {
  return new ToolError(code, message, details === undefined ? {} : { details });
}

export function toErrorMessage({ code, message, details }: ToolError, requestId: string | null): ErrorMessage {
  return { type: 'ErrorMessage', code, message, request_id: requestId, details: withClass(code, details) };
}

export function reasonOf(details: JsonObject | undefined): string | undefined {
  const reason = details?.['reason'];
  return typeof reason === 'string' ? reason : undefined;
}

export function connectionClosed(cause?: unknown, details: JsonObject = {}): ToolError {
  return new ToolError('E_INTERNAL', 'Connection is closed', {
    details: { ...details, reason: 'connection_closed' },
    cause,
  });
}

export function cancelledBeforeSending(): ToolError {
  return new ToolError('E_INTERNAL', 'Call was cancelled before it was sent', { details: { reason: 'cancelled' } });
}

/** `because`: the reason for which the answer will not come. */
export function outcomeUnknown(because: string): ToolError {
  return new ToolError('E_INTERNAL', 'The call was sent, and its answer was lost: it may have run', {
    details: {
      reason: 'outcome_unknown',
      because,
      next: 'look the call up in the journal; give an idempotency key to calls that may be repeated',
    },
  });
}

export function sessionRefused(message = 'Session was refused by the host', reason = 'session_refused'): ToolError {
  return new ToolError('E_POLICY', message, { details: { reason } });
}

const GONE: ReadonlySet<string | undefined> = new Set(['unknown_session', 'session_expired', 'session_closed']);

/** Also with status 401, or 429 after too many failures: the token of a session ends with it. */
export function isSessionGone(details: JsonObject | undefined): boolean {
  return GONE.has(reasonOf(details)) || details?.['status'] === 401 || details?.['because'] === 'token_invalid';
}

const BUSY: ReadonlySet<string | undefined> = new Set(['limit_reached', 'draining', 'starting']);

/** A refusal that a new attempt cannot change: who we are, or what we ask for, is not accepted. */
export function isFinal({ code, details }: ToolError): boolean {
  // A token that is refused does not become valid by waiting.
  if (reasonOf(details) === 'auth_limited') return true;
  if (typeof details['retry_after_ms'] === 'number' || BUSY.has(reasonOf(details))) return false;
  const status = details['status'];
  return code === 'E_POLICY' || status === 401 || status === 403 || status === 404;
}
