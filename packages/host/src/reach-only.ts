/** The reach of a client that has one session and nobody to approve for, such as the parent of a stdio process. */
import { ToolError } from '@tool-runtime/protocol';
import type { Reach } from './dispatch.ts';
import type { ServedSession } from './host/served-session.ts';

export function reachOnly(served: ServedSession): Reach {
  return {
    now: Date.now,
    admitCall() {},
    session(id) {
      if (id === served.id) return served;
      throw unknownSession();
    },
    answerApproval() {
      throw new ToolError('E_POLICY', 'Approvals are not answered on this connection', {
        details: { gate: 'approval', reason: 'unknown_approval', next: 'run a host (tool-runtime serve)' },
      });
    },
  };
}

/** The same whether there is no such session or it is somebody else's: ids must not be found out by asking. */
export function unknownSession(): ToolError {
  return new ToolError('E_POLICY', 'Message names a session that is not this one', {
    path: 'session_id',
    details: { gate: 'session', reason: 'unknown_session', next: 'use the session_id of the SessionAck' },
  });
}
