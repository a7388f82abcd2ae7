/**
 * The sessions a host has right now, from entering to leaving. A child may be ended by its parent: the table hears of
 * it.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ChildSession, CloseOptions, FairSlots, Session } from '@tool-runtime/sdk';
import type { TokenBook } from '../auth/tokens.ts';
import type { Log } from '../log/log.ts';
import type { HostLimits } from './host-limits.ts';
import { AnswerStore } from './kept-messages.ts';
import { serveSession } from './served-session.ts';
import type { HostSession } from './session-table.ts';
import { SameTurn } from './take-turn.ts';

export interface SessionRollOptions {
  readonly limits: HostLimits;
  readonly slots: FairSlots;
  readonly tokens: TokenBook;
  readonly log: Log;
}

export type Origin = Omit<HostSession, 'served' | 'child' | 'openedAt' | 'isClosing'>;

export interface SessionRoll {
  readonly sessions: ReadonlyMap<string, HostSession>;
  /** From here on it is in the table until it is over, whether a client, the sweep or its parent ends it. */
  enter<Child extends ChildSession | undefined>(
    session: Session,
    child: Child,
    origin: Origin,
  ): HostSession & { readonly child: Child };
  /** Rejects, with nothing changed, only while it has children that must end first. */
  close(session: HostSession, how: CloseOptions): Promise<void>;
}

export function createSessionRoll({ limits, slots, tokens, log }: SessionRollOptions): SessionRoll {
  const sessions = new Map<string, HostSession>();
  const questions = { waiting: 0, limit: limits.maxQuestions };
  const shared = { slots, questions, turns: new SameTurn(), answers: new AnswerStore(limits.keptAnswers) };
  let lastEventId = 0;

  async function leave(session: HostSession, how: 'closed' | 'expired'): Promise<void> {
    const { id } = session.served;
    session.isClosing = true;
    tokens.revokeSession(id);
    if (sessions.delete(id)) log.info(`session_${how}`, { session_id: id, actor: session.actor });
    // It has ended and its connections know. Why it could not end well is reported where it was ended.
    await session.served.close().catch(() => undefined);
  }

  return {
    sessions,
    enter(session, child, origin) {
      const served = serveSession(session, {
        maxInFlight: origin.maxInFlight,
        ...shared,
        keptEvents: limits.keptEvents,
        nextEventId: () => ++lastEventId,
        now: () => performance.now(),
      });
      const opened = { ...origin, served, child, openedAt: Math.floor(Date.now() / 1000), isClosing: false };
      const { workspace, actor, client } = opened;
      sessions.set(served.id, opened);
      const descent = child === undefined ? {} : { parent_session_id: child.parentId };
      log.info('session_opened', { session_id: served.id, actor, client, workspace, ...descent });
      void session.ended.then((how) => leave(opened, how));
      return opened;
    },
    async close(session, how) {
      session.isClosing = true;
      try {
        await session.served.close(how);
      } catch (thrown) {
        if (isToolError(thrown) && thrown.details['reason'] === 'children_open') {
          session.isClosing = false;
          throw thrown;
        }
        log.error('session_close_failed', { session_id: session.served.id, error: thrown });
      }
      await leave(session, how.reason ?? 'closed');
    },
  };
}
