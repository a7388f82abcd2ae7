/** Refusals that clients get, and how a failure becomes a message. */
import { type ErrorMessage, ToolError, toToolError } from '@tool-runtime/protocol';
import { withClass } from '@tool-runtime/protocol/internal';
import type { ServedSession } from './served-session.ts';

/** The same whether there is no such session or it belongs to another principal, so that ids cannot be probed. */
export function unknownSession(): ToolError {
  return new ToolError('E_POLICY', 'Message names a session that is not this one', {
    path: 'session_id',
    details: { gate: 'session', reason: 'unknown_session', next: 'use the session_id of the SessionAck' },
  });
}

export function noChild(): ToolError {
  return new ToolError('E_POLICY', 'Message is for child sessions, and this session is not a child', {
    path: 'session_id',
    details: { gate: 'session', reason: 'no_child', next: 'use the session_id of a ChildAck' },
  });
}

/** For a client that asks about a request. The reason tells it whether the request may be sent again. */
export function lostAnswer(served: ServedSession, requestId: string): ToolError {
  if (!served.session.hasSeen(requestId)) return neverReceived();
  return new ToolError('E_INTERNAL', 'The request was answered, but the answer is no longer kept', {
    details: { reason: 'answer_gone', next: 'repeat it with its idempotency_key, or look it up in the journal' },
  });
}

/** Also of a request that was dropped with its connection before it began. */
export function neverReceived(): ToolError {
  return new ToolError('E_INTERNAL', 'The request never arrived, so it did not run', {
    details: { reason: 'never_received', next: 'send it again' },
  });
}

/** A failure as the message a client gets. */
export function errorAnswer(thrown: unknown, requestId: string | null): ErrorMessage {
  const { code, message, details, path } = toToolError(thrown);
  const all = withClass(code, { ...details, ...(path === undefined ? {} : { path }) });
  return { type: 'ErrorMessage', code, message, request_id: requestId, details: all };
}
