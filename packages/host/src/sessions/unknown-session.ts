/** Refusals of messages that name a session they cannot reach. */
import { ToolError } from '@tool-runtime/protocol';

/** The same whether there is no such session or it is somebody else's: ids must not be found out by asking. */
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
