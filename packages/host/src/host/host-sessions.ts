/** Opens, finds and ends the sessions of a host. Those that fell silent are ended by a sweep. */
import { type OpenSessionBody, ToolError } from '@tool-runtime/protocol';
import type { Principal } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { Log } from '../log/log.ts';
import { unknownSession } from '../reach-only.ts';
import { AnswerStore } from './answer-store.ts';
import type { FairSlots } from './fair-slots.ts';
import type { HostLimits } from './host-limits.ts';
import { SameTurn } from './same-turn.ts';
import { serveSession } from './served-session.ts';
import { type HostSession, isAbandoned, mayUse } from './session-table.ts';
import { sweepSessions } from './sweep-sessions.ts';
import type { HostWorkspace } from './workspaces.ts';

export interface OpenOptions {
  readonly isOfConnection?: boolean;
}

export interface HostSessions {
  readonly size: number;
  readonly inFlight: number;
  open(
    workspace: HostWorkspace,
    principal: Principal,
    body: OpenSessionBody,
    options?: OpenOptions,
  ): Promise<HostSession>;
  /** Throws the same for a session that is not there and for one that is somebody else's. */
  find(principal: Principal, id: string): HostSession;
  of(principal: Principal): readonly HostSession[];
  end(session: HostSession, how: EndOptions): Promise<void>;
  /** Ends all of them, waiting for their calls until `deadline` cancels these. */
  endAll(deadline: AbortSignal): Promise<void>;
  stopSweeping(): void;
}

export interface EndOptions {
  readonly cancel: boolean;
  readonly reason: 'closed' | 'expired';
}

export interface HostSessionsOptions {
  readonly limits: HostLimits;
  readonly slots: FairSlots;
  readonly tokens: TokenBook;
  readonly log: Log;
}

export function createHostSessions({ limits, slots, tokens, log }: HostSessionsOptions): HostSessions {
  const sessions = new Map<string, HostSession>();
  const shared = { slots, turns: new SameTurn(), answers: new AnswerStore(limits.keptAnswers) };
  let opening = 0;
  let lastEventId = 0;

  async function openIn(workspace: HostWorkspace, principal: Principal, body: OpenSessionBody, options: OpenOptions) {
    const client = clientName(body);
    const session = await workspace.runtime.openSession({
      actor: principal.name,
      client,
      ...(body.registry === undefined ? {} : { registry: { text: body.registry, file: 'session registry' } }),
      ...(body.capabilities === undefined ? {} : { capabilities: body.capabilities }),
    });
    const served = serveSession(session, {
      maxInFlight: workspace.runtime.registry.limits.max_in_flight,
      ...shared,
      keptEvents: limits.keptEvents,
      nextEventId: () => ++lastEventId,
      now: () => performance.now(),
    });
    const opened: HostSession = {
      served,
      ownerId: principal.id,
      workspace: workspace.path,
      actor: principal.name,
      client,
      openedAt: Date.now() / 1000,
      heartbeatMs: body.heartbeat_timeout_ms ?? limits.idleMs,
      isStrict: body.heartbeat_timeout_ms !== undefined,
      isOfConnection: options.isOfConnection === true,
      isClosing: false,
    };
    sessions.set(served.id, opened);
    log.info('session_opened', { session_id: served.id, actor: opened.actor, client, workspace: workspace.path });
    return opened;
  }

  async function end(session: HostSession, closing: EndOptions): Promise<void> {
    session.isClosing = true;
    const { id } = session.served;
    try {
      await session.served.close(closing);
    } catch (thrown) {
      log.error('session_close_failed', { session_id: id, error: thrown });
    }
    tokens.revokeSession(id);
    if (sessions.delete(id)) log.info(`session_${closing.reason}`, { session_id: id, actor: session.actor });
  }

  const stopSweeping = sweepSessions(
    sessions,
    limits,
    (session, reason) => void end(session, { cancel: true, reason }),
  );

  /** Those that only wait for somebody's return give way, the oldest first. */
  async function makeRoom(): Promise<void> {
    for (const session of sessions.values()) {
      if (isAbandoned(session)) return end(session, { cancel: true, reason: 'closed' });
    }
    throw tooMany(limits.maxSessions);
  }

  return {
    get size() {
      return sessions.size;
    },
    get inFlight() {
      let count = 0;
      for (const { served } of sessions.values()) count += served.inFlight;
      return count;
    },
    async open(workspace, principal, body, options = {}) {
      opening += 1;
      try {
        if (sessions.size + opening > limits.maxSessions) await makeRoom();
        return await openIn(workspace, principal, body, options);
      } finally {
        opening -= 1;
      }
    },
    find(principal, id) {
      const session = sessions.get(id);
      if (session === undefined || !mayUse(principal, session)) throw unknownSession();
      return session;
    },
    of: (principal) => Array.from(sessions.values()).filter((session) => mayUse(principal, session)),
    end,
    async endAll(deadline) {
      const ended = Promise.all(
        Array.from(sessions.values(), (session) => end(session, { cancel: false, reason: 'closed' })),
      );
      const cancel = (): void => {
        for (const { served } of sessions.values()) void served.close({ cancel: true });
      };
      deadline.addEventListener('abort', cancel, { once: true });
      if (deadline.aborted) cancel();
      await ended;
      deadline.removeEventListener('abort', cancel);
    },
    stopSweeping,
  };
}

function clientName({ client }: OpenSessionBody): string {
  if (client === undefined) return 'unnamed';
  return client.version === undefined ? client.name : `${client.name} ${client.version}`;
}

function tooMany(limit: number): ToolError {
  return new ToolError('E_POLICY', `Host has as many sessions as it takes: ${limit}`, {
    details: { gate: 'host', reason: 'limit_reached', limit, retry_after_ms: 1000, next: 'close some, or retry later' },
  });
}
