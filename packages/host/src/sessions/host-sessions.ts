/** Opens, finds and ends the sessions of a host. Those that fell silent are ended by a sweep. */
import { type OpenChildBody, type OpenSessionBody, ToolError } from '@tool-runtime/protocol';
import type { CloseOptions } from '@tool-runtime/sdk';
import type { Principal } from '../auth/principal.ts';
import { toChildOptions } from './child-messages.ts';
import type { HostLimits } from './host-limits.ts';
import { unknownSession } from './refusals.ts';
import type { Work } from './served-calls.ts';
import { createSessionRoll, type SessionRollOptions } from './session-roll.ts';
import { dueEnd, type HostChild, type HostSession, isAbandoned, mayUse } from './session-table.ts';
import type { HostWorkspace } from './workspaces.ts';

export interface OpenOptions {
  readonly isOfConnection?: boolean;
  /** For `tool-runtime call`: recorded under the command's name, and calls that need an approval are refused. */
  readonly isOfCommand?: boolean;
}

export interface HostSessions {
  readonly size: number;
  readonly work: Work;
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
  const { sessions, enter, close } = createSessionRoll(options);
  let opening = 0;

  async function openIn(workspace: HostWorkspace, principal: Principal, body: OpenSessionBody, options: OpenOptions) {
    const client = clientName(body);
    const actor = options.isOfCommand === true ? 'local' : principal.name;
    const session = await workspace.runtime.openSession({
      actor,
      client,
      ...(options.isOfCommand === true ? { approvals: 'none' } : {}),
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
      const work = { running: 0, waiting: 0 };
      for (const { served } of sessions.values()) {
        work.running += served.work.running;
        work.waiting += served.work.waiting;
      }
      return work;
    },
    open: (workspace, principal, body, options = {}) => within(() => openIn(workspace, principal, body, options)),
    openChild: (parent, body, requestId) =>
      within(async () => {
        const how = requestId === undefined ? {} : { requestId };
        const child = await parent.served.session.openChild(toChildOptions(body), how);
        const actor = `${parent.actor}/${child.agentId}`;
        return enter(child, child, { ...originOf(parent), actor, ...silenceOf(body, limits), isOfConnection: false });
      }, parent),
    get: (id) => sessions.get(id),
    find(principal, id) {
      const session = sessions.get(id);
      if (session === undefined || !mayUse(principal, session)) throw unknownSession();
      return session;
    },
    of: (principal) => Array.from(sessions.values()).filter((session) => mayUse(principal, session)),
    close,
    async endAll(deadline) {
      const ended = Promise.all(Array.from(sessions.values(), (session) => close(session, { children: 'end' })));
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
    // When this process stood still, messages may lie unread: its own silence is not the client's.
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
