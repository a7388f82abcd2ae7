/** The reach of a client that has one session and its children, and no approvals to give, such as the parent of a stdio process. */
import { ToolError } from '@tool-runtime/protocol';
import type { ChildSession } from '@tool-runtime/sdk';
import { childAck, toChildOptions } from '../sessions/child-messages.ts';
import type { Reach } from '../sessions/reach.ts';
import { noChild, unknownSession } from '../sessions/refusals.ts';
import { type ServedSession, type ServedSessionOptions, serveSession } from '../sessions/served-session.ts';

interface HeldChild {
  readonly served: ServedSession;
  readonly child: ChildSession;
}

/** `serving`: how children are served; by default as sessions without a memory of their own. */
export function reachOnly(served: ServedSession, serving: ServedSessionOptions = FORGETFUL): Reach {
  const held = new Map<string, HeldChild>();

  function session(id: string): ServedSession {
    if (id === served.id) return served;
    const child = held.get(id);
    if (child === undefined) throw unknownSession();
    // Every message counts as a sign of life.
    child.child.heartbeat();
    return child.served;
  }

  function hold(child: ChildSession): void {
    const own = serveSession(child, serving);
    held.set(child.id, { served: own, child });
    void child.ended.then(async () => {
      held.delete(child.id);
      // It is over; the caller that ended it knows what could not be recorded.
      await own.close().catch(() => undefined);
    });
  }

  return {
    now: Date.now,
    admitCall() {},
    session,
    async openChild({ type: _, request_id, session_id, ...body }) {
      const { heartbeat_timeout_ms } = body;
      const options = {
        ...toChildOptions(body),
        ...(heartbeat_timeout_ms === undefined ? {} : { heartbeatTimeoutMs: heartbeat_timeout_ms }),
      };
      const child = await session(session_id).session.openChild(options, { requestId: request_id });
      hold(child);
      return childAck(request_id, child, heartbeat_timeout_ms === undefined ? {} : { heartbeat_timeout_ms });
    },
    async endChild({ session_id, mode = 'wait' }) {
      const child = held.get(session_id)?.child;
      if (child === undefined) throw session_id === served.id ? noChild() : unknownSession();
      return mode === 'cancel' ? child.cancel('asked for by its parent') : child.complete();
    },
    answerApproval() {
      throw new ToolError('E_POLICY', 'Approvals are not answered on this connection', {
        details: { gate: 'approval', reason: 'unknown_approval', next: 'run a host (tool-runtime serve)' },
      });
    },
  };
}

const FORGETFUL: ServedSessionOptions = { keptEvents: 0, nextEventId: () => 0, now: () => performance.now() };
