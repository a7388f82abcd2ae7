/** What one connection to a host may reach: what its principal may, and the children that were opened on it. */
import { type Principal, requireScope } from '../auth/principal.ts';
import type { Host } from './create-host.ts';
import { childAck } from './describe-child.ts';
import type { Reach } from './reach.ts';
import type { HostSession } from './session-table.ts';

export interface ReachParts {
  readonly host: Pick<Host, 'approvals' | 'children' | 'describe' | 'session'>;
  readonly sessions: { get(id: string): HostSession | undefined };
  readonly principal: Principal;
  admitCall(): void;
}

export function createHostReach({ host, sessions, principal, admitCall }: ReachParts): Reach {
  // Each was handed its token here, so whoever listens here could come with it anyway. Gone with the table's own entry.
  const held = new WeakSet<HostSession>();

  function heldOr(find: (id: string) => HostSession, id: string): HostSession {
    requireScope(principal, 'call');
    const session = sessions.get(id);
    return session !== undefined && held.has(session) ? session : find(id);
  }

  return {
    now: Date.now,
    admitCall,
    session: (id) => heldOr((asked) => host.session(principal, asked), id).served,
    async openChild({ type: _, request_id, session_id, ...body }) {
      const parent = heldOr((asked) => host.session(principal, asked), session_id);
      const opened = await host.children.open(parent, body, request_id);
      held.add(opened);
      const { token, heartbeat_timeout_ms } = host.describe(opened, principal);
      return childAck(request_id, opened.child, { token, heartbeat_timeout_ms });
    },
    endChild({ session_id, mode = 'wait' }) {
      const session = heldOr((asked) => host.children.endable(principal, asked), session_id);
      return host.children.end(session, { cancel: mode === 'cancel', by: principal.name });
    },
    answerApproval: (answer) => host.approvals.answer(answer, principal),
  };
}
