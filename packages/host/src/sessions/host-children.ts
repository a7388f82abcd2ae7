/**
 * Children as clients of a host see them: who may open, list, end and detach them.
 *
 * The token of a session reaches that session. To its children it may do what only a parent can; calling in their name
 * takes their own token, the owner's, or the connection that opened them.
 */
import type { DetachChildBody, OpenChildBody, SessionInfo, SessionUsage } from '@tool-runtime/protocol';
import { ToolError } from '@tool-runtime/protocol';
import { type Principal, requireScope } from '../auth/principal.ts';
import type { HostSessions } from './host-sessions.ts';
import { noChild, unknownSession } from './refusals.ts';
import { type HostChild, type HostSession, infoOf, mayUse } from './session-table.ts';

export interface HostChildren {
  open(parent: HostSession, body: OpenChildBody, requestId?: string): Promise<HostChild>;
  /** Those of a session that are open. */
  of(parent: HostSession): readonly SessionInfo[];
  /** A session the principal may end: one it may use, or a child of its own. */
  endable(principal: Principal, id: string): HostSession;
  /** Resolves with what it used. Rejects with reason `children_open` when it has children and is not cancelled. */
  end(session: HostSession, how: { readonly cancel: boolean; readonly by: string }): Promise<SessionUsage>;
  /** For the keeper of the child, which is not the child itself. */
  detach(principal: Principal, id: string, body: DetachChildBody): Promise<void>;
}

export function createHostChildren(sessions: HostSessions, admit: () => void): HostChildren {
  /** A child that was taken over belongs to its new owner. */
  function isChildOf(parentId: string | undefined, id: string): boolean {
    const parent = parentId === undefined ? undefined : sessions.get(parentId);
    return parent?.served.session.children().some((child) => child.id === id) === true;
  }

  function endable(principal: Principal, id: string): HostSession {
    const session = sessions.get(id);
    if (session !== undefined && (mayUse(principal, session) || isChildOf(principal.sessionId, id))) return session;
    throw unknownSession();
  }

  return {
    async open(parent, body, requestId) {
      admit();
      return sessions.openChild(parent, body, requestId);
    },
    of: ({ served }) =>
      served.session.children().flatMap(({ id }) => {
        const child = sessions.get(id);
        return child === undefined ? [] : [infoOf(child)];
      }),
    endable,
    async end(session, { cancel, by }) {
      const { child } = session;
      if (child === undefined) throw noChild();
      // With a word about who wants it on record, as long as it has a parent that it could be wanted by.
      if (cancel && isChildOf(child.parentId, child.id)) await child.cancel(`asked for by ${by}`);
      await sessions.close(session, { cancel });
      return child.usage();
    },
    async detach(principal, id, { acknowledged_by, reclaim }) {
      requireScope(principal, 'call');
      if (principal.sessionId === id) throw ownKeeper();
      const { child } = endable(principal, id);
      if (child === undefined) throw noChild();
      await child.detach({ acknowledgedBy: acknowledged_by, reclaim });
    },
  };
}

function ownKeeper(): ToolError {
  return new ToolError('E_POLICY', 'A child does not let itself go', {
    details: { gate: 'child_lifecycle', reason: 'session_token', next: "use the token of its parent's session" },
  });
}
