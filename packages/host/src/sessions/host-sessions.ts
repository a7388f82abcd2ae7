/** Opens, finds and ends the sessions of a host. Those that fell silent are ended by a sweep. */
import {
  isToolError,
  type JsonObject,
  type OpenChildBody,
  type OpenSessionBody,
  ToolError,
} from '@tool-runtime/protocol';
import type { BudgetState, ChildSession, CloseOptions, FairSlots, Session, SessionOptions } from '@tool-runtime/sdk';
import type { Principal } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { Log } from '../ops/log.ts';
import { type Activity, createActivity } from './activity.ts';
import { toChildOptions } from './child-messages.ts';
import type { HostLimits } from './host-limits.ts';
import { AnswerStore } from './kept-messages.ts';
import { unknownSession } from './refusals.ts';
import type { CallGate, Work } from './served-calls.ts';
import { serveSession } from './served-session.ts';
import { dueEnd, type HostChild, type HostSession, isAbandoned, maySee, mayUse } from './session-table.ts';
import type { HostWorkspace } from './workspaces.ts';

export interface OpenOptions {
  readonly isOfConnection?: boolean;
  /** For `tool-runtime call`: recorded under the command's name, and calls that need an approval are refused. */
  readonly isOfCommand?: boolean;
  /** Of a child whose parent is on another host. */
  readonly grant?: JsonObject;
}

export interface HostSessions {
  readonly size: number;
  readonly work: Work;
  readonly activity: Activity;
  /** Of every open session. */
  budgets(): readonly BudgetState[];
  answerOf(sessionId: string, requestId: string): string | undefined;
  open(
    workspace: HostWorkspace,
    principal: Principal,
    body: OpenSessionBody,
    options?: OpenOptions,
  ): Promise<HostSession>;
  /** Counts as a session like any other. A request id must be new in the parent's session. */
  openChild(parent: HostSession, body: OpenChildBody, requestId?: string): Promise<HostChild>;
  get(id: string): HostSession | undefined;
  /** Throws the same for a missing session and for one of another principal. */
  find(principal: Principal, id: string): HostSession;
  of(principal: Principal): readonly HostSession[];
  /** Rejects, with nothing changed, only while it has children that must end first. */
  close(session: HostSession, how: CloseOptions): Promise<void>;
  /** Ends all of them, waiting for their calls until `deadline` cancels these. */
  endAll(deadline: AbortSignal): Promise<void>;
  stopSweeping(): void;
}

export function createHostSessions(options: SessionRollOptions): HostSessions {
  const { limits } = options;
  const { sessions, enter, close, activity, work, answerOf } = createSessionRoll(options);
  let opening = 0;

  async function openIn(workspace: HostWorkspace, principal: Principal, body: OpenSessionBody, options: OpenOptions) {
    const client = clientName(body);
    const { grant } = options;
    const own = options.isOfCommand === true ? 'local' : principal.name;
    const actor = grant === undefined ? own : String(grant['actor']);
    const session = await workspace.openSession({
      actor,
      client,
      ...(options.isOfCommand === true ? { approvals: 'none' } : {}),
      // Read and checked where it is applied.
      ...(options.grant === undefined
        ? {}
        : { under: options.grant as unknown as NonNullable<SessionOptions['under']> }),
      ...(body.registry === undefined ? {} : { registry: { text: body.registry, file: 'session registry' } }),
      ...(body.capabilities === undefined ? {} : { capabilities: body.capabilities }),
    });
    return enter(session, undefined, {
      ownerId: principal.id,
      workspace: workspace.path,
      actor,
      client,
      maxInFlight: workspace.runtime.registry.limits.max_in_flight,
      ...silenceOf(body, limits),
      isOfConnection: options.isOfConnection === true,
    });
  }

  const stopSweeping = sweepSessions(
    sessions,
    limits,
    (session, reason) => void close(session, { cancel: true, reason }),
  );

  /** Sessions that only wait for their client to return are ended first, the oldest first. */
  async function makeRoom(parent?: HostSession): Promise<void> {
    for (const session of sessions.values()) {
      if (session !== parent && isAbandoned(session)) return close(session, { cancel: true });
    }
    throw tooMany(limits.maxSessions);
  }

  async function within<Opened>(open: () => Promise<Opened>, parent?: HostSession): Promise<Opened> {
    opening += 1;
    try {
      if (sessions.size + opening > limits.maxSessions) await makeRoom(parent);
      return await open();
    } finally {
      opening -= 1;
    }
  }

  return {
    get size() {
      return sessions.size;
    },
    get work() {
      return work();
    },
    activity,
    budgets: () => Array.from(sessions.values(), ({ served }) => served.session.budget()),
    answerOf,
    open: (workspace, principal, body, options = {}) => within(() => openIn(workspace, principal, body, options)),
    openChild: (parent, body, requestId) =>
      within(async () => {
        const how = requestId === undefined ? {} : { requestId };
        const child = await parent.served.session.openChild(toChildOptions(body), how);
        const actor = `${parent.actor}/${child.agentId}`;
        // One that works on another host keeps to its limit there.
        const silence = silenceOf(body.workspace === undefined ? body : {}, limits);
        return enter(child, child, { ...originOf(parent), actor, ...silence, isOfConnection: false });
      }, parent),
    get: (id) => sessions.get(id),
    find(principal, id) {
      const session = sessions.get(id);
      if (session === undefined || !mayUse(principal, session)) throw unknownSession();
      return session;
    },
    of: (principal) => Array.from(sessions.values()).filter((session) => maySee(principal, session)),
    close,
    async endAll(deadline) {
      const ended = Promise.all(Array.from(sessions.values(), (session) => close(session, { children: 'end' })));
      const cancel = (): void => {
        // `ended` waits for the same end and reports what fails.
        for (const { served } of sessions.values()) served.close({ cancel: true }).catch(() => {});
      };
      deadline.addEventListener('abort', cancel, { once: true });
      if (deadline.aborted) cancel();
      await ended;
      deadline.removeEventListener('abort', cancel);
    },
    stopSweeping,
  };
}

function originOf({ ownerId, workspace, client, maxInFlight }: HostSession) {
  return { ownerId, workspace, client, maxInFlight };
}

/** A limit the client names itself is strict. */
function silenceOf({ heartbeat_timeout_ms: asked }: Pick<OpenSessionBody, 'heartbeat_timeout_ms'>, limits: HostLimits) {
  return { heartbeatMs: asked ?? limits.idleMs, isStrict: asked !== undefined };
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

/** Looks once a second for sessions that fell silent. */
const SWEEP_MS = 1000;

/** Gives a function that stops it. */
function sweepSessions(
  sessions: ReadonlyMap<string, HostSession>,
  { resumeMs }: Pick<HostLimits, 'resumeMs'>,
  end: (session: HostSession, reason: 'expired' | 'closed') => void,
): () => void {
  let sweptAt = performance.now();
  const sweeper = setInterval(() => {
    const now = performance.now();
    // When this process was suspended, messages may be unread: the client was not silent.
    const stall = Math.max(0, now - sweptAt - SWEEP_MS);
    sweptAt = now;
    for (const session of sessions.values()) {
      const reason = dueEnd(session, now - stall, resumeMs);
      if (reason !== undefined) end(session, reason);
    }
  }, SWEEP_MS);
  sweeper.unref();
  return () => clearInterval(sweeper);
}

interface SessionRollOptions {
  readonly limits: HostLimits;
  readonly slots: FairSlots;
  readonly tokens: TokenBook;
  readonly log: Log;
  /** Another number when journals have grown. */
  readonly workspaces: () => readonly HostWorkspace[];
}

type Origin = Omit<HostSession, 'served' | 'child' | 'openedAt' | 'isClosing' | 'isCancelled' | 'tied'>;

const NEW = { isClosing: false, isCancelled: false };

interface SessionRoll {
  readonly sessions: ReadonlyMap<string, HostSession>;
  readonly activity: Activity;
  /** Calls of all sessions. */
  work(): Work;
  answerOf(sessionId: string, requestId: string): string | undefined;
  /** From here on it is in the table until it is over, whether a client, the sweep or its parent ends it. */
  enter<Child extends ChildSession | undefined>(
    session: Session,
    child: Child,
    origin: Origin,
  ): HostSession & { readonly child: Child };
  /** Rejects, with nothing changed, only while it has children that must end first. */
  close(session: HostSession, how: CloseOptions): Promise<void>;
}

/**
 * The sessions a host has right now, from entering to leaving. A child may be ended by its parent: the table hears of
 * it.
 */
function createSessionRoll({ limits, slots, tokens, log, workspaces }: SessionRollOptions): SessionRoll {
  const sessions = new Map<string, HostSession>();
  const questions = { waiting: 0, limit: limits.maxQuestions };
  const shared = { slots, questions, answers: new AnswerStore(limits.keptAnswers) };
  const gates = new Map<string, CallGate>();
  const gateOf = (workspace: string): { readonly gate?: CallGate } => {
    if (limits.maxWorkspaceCalls === Number.POSITIVE_INFINITY) return {};
    const gate = gates.get(workspace) ?? { size: 0, limit: limits.maxWorkspaceCalls };
    gates.set(workspace, gate);
    return { gate };
  };
  let lastEventId = 0;
  const nextEventId = (): number => ++lastEventId;
  const activity = createActivity({ nextEventId, work, workspaces });

  function work(): Work {
    const sum = { running: 0, waiting: 0 };
    for (const { served } of sessions.values()) {
      sum.running += served.work.running;
      sum.waiting += served.work.waiting;
    }
    return sum;
  }

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
    activity,
    work,
    answerOf: (sessionId, requestId) => shared.answers.find(sessionId, requestId),
    enter(session, child, origin) {
      const served = serveSession(session, {
        maxInFlight: origin.maxInFlight,
        ...shared,
        ...gateOf(origin.workspace),
        keptEvents: limits.keptEvents,
        nextEventId,
        onEvent: activity.note,
        now: () => performance.now(),
      });
      const opened = { ...origin, served, child, openedAt: Math.floor(Date.now() / 1000), ...NEW };
      const { workspace, actor, client } = opened;
      sessions.set(served.id, opened);
      const descent = child === undefined ? {} : { parent_session_id: child.parentId };
      log.info('session_opened', { session_id: served.id, actor, client, workspace, ...descent });
      void session.ended.then((how) => leave(opened, how));
      return opened;
    },
    async close(session, how) {
      session.isClosing = true;
      session.isCancelled ||= how.cancel === true;
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
      await session.tied;
    },
  };
}
