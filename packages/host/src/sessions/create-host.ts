/**
 * The host without its wires: workspaces, sessions, approvals and their limits. Transports hand it principals and
 * envelopes; it knows no bytes.
 */
import {
  type ChildOpened,
  type DetachChildBody,
  type FleetState,
  type HostStatus,
  type JsonObject,
  type OpenChildBody,
  type OpenSessionBody,
  type SessionInfo,
  type SessionOpened,
  type SessionUsage,
  ToolError,
} from '@tool-runtime/protocol';
import { type CloseOptions, FairSlots, type Runtime, type RuntimeOptions } from '@tool-runtime/sdk';
import { type ConsoleAccess, createConsoleAccess } from '../auth/console-access.ts';
import { createFailedAttempts, type FailedAttempts } from '../auth/failed-attempts.ts';
import { type Principal, requireScope } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { Log } from '../ops/log.ts';
import { keepMetrics, type MetricsKeeper } from '../records/metrics-history.ts';
import { createRecordDesk, type RecordDesk } from '../records/record-desk.ts';
import type { Activity } from './activity.ts';
import { type ApprovalDesk, createApprovalDesk, type OtherDesks } from './approval-desk.ts';
import { childAck, describeChild, toolNames } from './child-messages.ts';
import { type ChildWork, followTied, noFleetClient } from './child-work.ts';
import type { HostLimits } from './host-limits.ts';
import { createHostSessions, type HostSessions, type OpenOptions } from './host-sessions.ts';
import type { Reach } from './reach.ts';
import { noChild, unknownSession } from './refusals.ts';
import type { Work } from './served-calls.ts';
import { type HostChild, type HostSession, infoOf, mayUse } from './session-table.ts';
import { type HostWorkspace, openWorkspaces, type ReloadOptions, type Workspaces } from './workspaces.ts';

export interface HostOptions {
  readonly folders: readonly string[];
  readonly state?: string;
  readonly createRuntime: (options: RuntimeOptions) => Promise<Runtime>;
  readonly tokens: TokenBook;
  readonly limits: HostLimits;
  readonly serverVersion: string;
  readonly log: Log;
  readonly onStopRequested: () => void;
  /** Names of folders in place of their own. */
  readonly nameOf?: (folder: string) => string;
  /** Runtimes are opened anew when the operator changes their registry; this is the one they are opened from. */
  readonly reload?: Omit<ReloadOptions, 'log'>;
}

export interface Host {
  readonly limits: HostLimits;
  readonly serverVersion: string;
  readonly workspaces: Workspaces;
  readonly approvals: ApprovalDesk;
  /** Of the other hosts of its fleet. */
  otherDesks?: OtherDesks;
  /** Of its fleet, where it is in one. */
  fleetState?: () => Promise<FleetState>;
  /** Between the hosts of its fleet. */
  childWork?: ChildWork;
  readonly log: Log;
  /** Counts failed proofs of identity, whichever way they came in. */
  readonly attempts: FailedAttempts;
  /** Who is signed in to the console. */
  readonly console: ConsoleAccess;
  /** The journals, for readers. */
  readonly records: RecordDesk;
  readonly history: MetricsKeeper;
  readonly activity: Activity;
  /** The text of an answer that is still kept. For auditors: asks nothing about the session. */
  answerOf(sessionId: string, requestId: string): string | undefined;
  state: HostStatus['state'];
  /** Counted by the transports. */
  connections: number;
  eventsMissed: number;
  /** How open connections that would stay are told to go, once all calls have ended. */
  readonly goingAway: Set<() => void>;
  /** The largest message any of its workspaces takes. */
  readonly maxRequestBytes: number;
  /** Asks the program around it to stop; does nothing but call back. */
  requestStop(): void;
  /** The one the principal is bound to, whatever is asked for; else the one that is asked for, or the first. */
  workspaceFor(principal: Principal, asked?: string): HostWorkspace;
  openSession(principal: Principal, body: OpenSessionBody, options?: OpenOptions): Promise<HostSession>;
  /** What the client is told about a session it has just opened; makes its token. */
  describe(session: HostSession, principal: Principal): SessionOpened;
  describeChild(session: HostChild, principal: Principal): ChildOpened;
  session(principal: Principal, id: string): HostSession;
  sessions(principal: Principal): readonly SessionInfo[];
  /** Rejects while it has children, unless it cancels or is told to end them. */
  closeSession(session: HostSession, options: Pick<CloseOptions, 'cancel' | 'children'>): Promise<void>;
  readonly children: HostChildren;
  /** For one connection, or one request. */
  reach(principal: Principal): Reach;
  status(): HostStatus;
  /** No new sessions and calls; resolves when the running calls have ended or `deadline` has cancelled them. */
  drain(deadline: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export async function createHost(options: HostOptions): Promise<Host> {
  const { limits, log, tokens, serverVersion } = options;
  const startedAt = Date.now();
  const slots = new FairSlots(limits.maxInFlight);
  const approvals = createApprovalDesk({ now: Date.now });
  const workspaces = await openWorkspaces({
    folders: options.folders,
    ...(options.nameOf === undefined ? {} : { nameOf: options.nameOf }),
    state: options.state,
    createRuntime: (where) => options.createRuntime({ ...where, approvals }),
    ...(options.reload === undefined ? {} : { reload: { ...options.reload, log } }),
  });
  for (const { path, runtime } of workspaces.all) {
    for (const call of runtime.unfinished) log.warn('unfinished_call', { workspace: path, ...call });
  }
  const sessions = createHostSessions({
    ...{ limits, slots, tokens, log },
    workspaces: () => workspaces.all,
  });
  workspaces.onChange(({ name }) => sessions.activity.announce('RegistryChanged', { workspace: name }));
  const describe = (session: HostSession, principal: Principal): SessionOpened =>
    describeSession(session, tokenFor(session, principal, tokens), serverVersion);
  const host: Host = {
    limits,
    serverVersion,
    workspaces,
    approvals,
    log,
    attempts: createFailedAttempts({ log, limit: limits.maxAuthFailures, now: Date.now }),
    console: createConsoleAccess({ now: Date.now }),
    records: createRecordDesk(),
    history: keepMetrics({
      totals: () => workspaces.all.map(({ runtime }) => runtime.metrics.totals()),
      figures: () => host.status(),
      budgets: sessions.budgets,
      servers: () => workspaces.all.flatMap(({ runtime }) => runtime.servers()),
      now: Date.now,
    }),
    activity: sessions.activity,
    answerOf: sessions.answerOf,
    state: 'starting',
    connections: 0,
    eventsMissed: 0,
    goingAway: new Set(),
    maxRequestBytes: Math.max(...workspaces.all.map(({ runtime }) => runtime.registry.limits.max_request_bytes)),
    requestStop: options.onStopRequested,
    async openSession(principal, body, how) {
      requireScope(principal, 'call');
      if (principal.sessionId !== undefined) throw boundToken();
      refuseWhenDraining(host);
      const workspace = host.workspaceFor(principal, body.workspace);
      const { under } = body;
      if (under === undefined) return sessions.open(workspace, principal, body, how);
      const open = (grant: JsonObject) => sessions.open(workspace, principal, body, { ...how, grant });
      return openTied(host, principal, { under, open });
    },
    workspaceFor: (principal, asked) => workspaces.find(principal.workspace ?? asked),
    describe,
    describeChild: (session, principal) => ({ ...describe(session, principal), ...describeChild(session.child) }),
    session: sessions.find,
    sessions: (principal) => sessions.of(principal).map(infoOf),
    closeSession: sessions.close,
    children: createHostChildren(sessions, (parent, body) => admitChild(host, parent, body)),
    reach: (principal) => createHostReach({ host, sessions, principal, admitCall: () => refuseWhenDraining(host) }),
    status: () => ({
      server_version: serverVersion,
      state: host.state,
      started_at: Math.floor(startedAt / 1000),
      uptime_ms: Date.now() - startedAt,
      pid: process.pid,
      workspaces: workspaces.all.map(({ path }) => path),
      sessions: sessions.size,
      connections: host.connections,
      ...workOf(sessions.work, limits),
      approvals: approvals.size,
      memory_bytes: process.memoryUsage.rss(),
    }),
    async drain(deadline) {
      host.state = 'draining';
      await sessions.endAll(deadline);
    },
    async close() {
      sessions.stopSweeping();
      sessions.activity.close();
      host.history.close();
      host.attempts.close();
      await workspaces.close();
    },
  };
  return host;
}

function admitChild(host: Host, parent: HostSession, { workspace }: OpenChildBody): void {
  refuseWhenDraining(host);
  if (workspace === undefined) return;
  if (host.childWork === undefined) throw noFleetClient();
  host.childWork.requireClient(parent);
}

interface Tied {
  readonly under: NonNullable<OpenSessionBody['under']>;
  open(grant: JsonObject): Promise<HostSession>;
}

/** A session in which the child of a session on another host works. Both know of the end, whichever comes first. */
async function openTied(host: Host, principal: Principal, { under, open }: Tied): Promise<HostSession> {
  if (host.childWork === undefined) throw noFleetClient();
  const tie = await host.childWork.tie(principal, under);
  try {
    const session = await open(tie.grant);
    session.tied = followTied(tie, session, (how) => host.closeSession(session, how));
    return session;
  } catch (thrown) {
    await tie.finish({ usage: { calls: 0, errors: 0, bytes: 0, duration_ms: 0 }, spent: {} }, 'cancelled');
    throw thrown;
  }
}

/**
 * Calls that go on after a person has answered take no slot from others, so they may be a few more than there are
 * slots.
 */
function workOf({ running, waiting }: Work, { maxInFlight }: HostLimits): Pick<HostStatus, 'in_flight' | 'queued'> {
  const inFlight = Math.min(running, maxInFlight);
  return { in_flight: inFlight, queued: waiting + running - inFlight };
}

/** Throws for a session that ended meanwhile: its token would never be revoked. */
function tokenFor({ served, ownerId, actor, isClosing }: HostSession, principal: Principal, tokens: TokenBook): string {
  if (isClosing) throw endedMeanwhile();
  const scopes = (['read', 'call'] as const).filter((scope) => principal.scopes.has(scope));
  return tokens.issue({ sessionId: served.id, ownerId, name: actor, scopes });
}

function describeSession(session: HostSession, token: string, serverVersion: string): SessionOpened {
  const { served } = session;
  return {
    session_id: served.id,
    token,
    server_version: serverVersion,
    workspace: session.workspace,
    actor: session.actor,
    heartbeat_timeout_ms: session.heartbeatMs,
    fingerprint: served.session.snapshot.runtime_package_fingerprint,
    tools: toolNames(served.session),
    side_effect_level: served.session.ceiling.side_effect_level ?? 'network',
    warnings: [],
  };
}

/** Cancels and heartbeats are still taken: a cancel is what helps a host that waits for calls to end. */
function refuseWhenDraining(host: Host): void {
  if (host.state !== 'draining') return;
  throw new ToolError('E_POLICY', 'Host is shutting down', {
    details: { gate: 'host', reason: 'draining', retry_after_ms: 2000, next: 'try again on the next instance' },
  });
}

function boundToken(): ToolError {
  return new ToolError('E_POLICY', 'A session token opens no further sessions', {
    details: { gate: 'auth', reason: 'session_token', next: 'use the token of the host' },
  });
}

function endedMeanwhile(): ToolError {
  return new ToolError('E_POLICY', 'Session has ended already', {
    details: { gate: 'session', reason: 'session_closed', next: 'open a new session' },
  });
}

interface ReachParts {
  readonly host: Pick<Host, 'approvals' | 'children' | 'describe' | 'session'>;
  readonly sessions: { get(id: string): HostSession | undefined };
  readonly principal: Principal;
  admitCall(): void;
}

/** What one connection to a host may reach: what its principal may, and the children that were opened on it. */
function createHostReach({ host, sessions, principal, admitCall }: ReachParts): Reach {
  // Each was given its token here, so a listener here could use it anyway. Gone with the table's own entry.
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

interface HostChildren {
  open(parent: HostSession, body: OpenChildBody, requestId?: string): Promise<HostChild>;
  /** Those of a session that are open. */
  of(parent: HostSession): readonly SessionInfo[];
  /** The owner is not asked for. */
  find(id: string): HostChild | undefined;
  /** A session the principal may end: one it may use, or a child of its own. */
  endable(principal: Principal, id: string): HostSession;
  /** Resolves with what it used. Rejects with reason `children_open` when it has children and is not cancelled. */
  end(session: HostSession, how: { readonly cancel: boolean; readonly by: string }): Promise<SessionUsage>;
  /** For the keeper of the child, which is not the child itself. */
  detach(principal: Principal, id: string, body: DetachChildBody): Promise<void>;
}

/**
 * Children as clients of a host see them: who may open, list, end and detach them.
 *
 * The token of a session reaches that session. To its children it may do what only a parent can; calling in their name
 * takes their own token, the owner's, or the connection that opened them.
 */
function createHostChildren(
  sessions: HostSessions,
  admit: (parent: HostSession, body: OpenChildBody) => void,
): HostChildren {
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
      admit(parent, body);
      return sessions.openChild(parent, body, requestId);
    },
    of: ({ served }) =>
      served.session.children().flatMap(({ id }) => {
        const child = sessions.get(id);
        return child === undefined ? [] : [infoOf(child)];
      }),
    find(id) {
      const session = sessions.get(id);
      return session === undefined || !isChild(session) ? undefined : session;
    },
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

function isChild(session: HostSession): session is HostChild {
  return session.child !== undefined;
}

function ownKeeper(): ToolError {
  return new ToolError('E_POLICY', 'A child does not let itself go', {
    details: { gate: 'child_lifecycle', reason: 'session_token', next: "use the token of its parent's session" },
  });
}
