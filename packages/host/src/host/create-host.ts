/**
 * The host without its wires: workspaces, sessions, approvals and their limits. Transports hand it principals and
 * envelopes; it knows no bytes.
 */
import {
  type HostStatus,
  type OpenSessionBody,
  type SessionInfo,
  type SessionOpened,
  ToolError,
} from '@tool-runtime/protocol';
import type { Runtime, RuntimeOptions } from '@tool-runtime/sdk';
import { type Principal, requireScope } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { Reach } from '../dispatch.ts';
import type { Log } from '../log/log.ts';
import { type ApprovalDesk, createApprovalDesk } from './approval-desk.ts';
import { FairSlots } from './fair-slots.ts';
import type { HostLimits } from './host-limits.ts';
import { createHostSessions, type OpenOptions } from './host-sessions.ts';
import { type HostSession, infoOf } from './session-table.ts';
import { openWorkspaces, type Workspaces } from './workspaces.ts';

export interface HostOptions {
  readonly folders: readonly string[];
  readonly state?: string;
  readonly createRuntime: (options: RuntimeOptions) => Promise<Runtime>;
  readonly tokens: TokenBook;
  readonly limits: HostLimits;
  readonly serverVersion: string;
  readonly log: Log;
  readonly onStopRequested: () => void;
}

export interface Host {
  readonly limits: HostLimits;
  readonly serverVersion: string;
  readonly workspaces: Workspaces;
  readonly approvals: ApprovalDesk;
  readonly log: Log;
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
  openSession(principal: Principal, body: OpenSessionBody, options?: OpenOptions): Promise<HostSession>;
  /** What the client is told about a session it has just opened; makes its token. */
  describe(session: HostSession, principal: Principal): SessionOpened;
  session(principal: Principal, id: string): HostSession;
  sessions(principal: Principal): readonly SessionInfo[];
  closeSession(session: HostSession, options: { readonly cancel: boolean }): Promise<void>;
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
  const approvals = createApprovalDesk({
    now: Date.now,
    pause: () => {
      slots.give();
      return () => slots.takeBack();
    },
  });
  const workspaces = await openWorkspaces({
    folders: options.folders,
    state: options.state,
    createRuntime: (where) => options.createRuntime({ ...where, approvals }),
  });
  for (const { path, runtime } of workspaces.all) {
    for (const call of runtime.unfinished) log.warn('unfinished_call', { workspace: path, ...call });
  }
  const sessions = createHostSessions({ limits, slots, tokens, log });
  const host: Host = {
    limits,
    serverVersion,
    workspaces,
    approvals,
    log,
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
      return sessions.open(workspaces.find(body.workspace), principal, body, how);
    },
    describe: (session, principal) => describeSession(session, tokenFor(session, principal, tokens), serverVersion),
    session: sessions.find,
    sessions: (principal) => sessions.of(principal).map(infoOf),
    closeSession: (session, { cancel }) => sessions.end(session, { cancel, reason: 'closed' }),
    reach: (principal) => ({
      now: Date.now,
      admitCall: () => refuseWhenDraining(host),
      session(id) {
        requireScope(principal, 'call');
        return sessions.find(principal, id).served;
      },
      answerApproval: (answer) => approvals.answer(answer, principal),
    }),
    status: () => ({
      server_version: serverVersion,
      state: host.state,
      started_at: startedAt / 1000,
      uptime_ms: Date.now() - startedAt,
      pid: process.pid,
      workspaces: workspaces.all.map(({ path }) => path),
      sessions: sessions.size,
      connections: host.connections,
      in_flight: sessions.inFlight,
      approvals: approvals.size,
      memory_bytes: process.memoryUsage.rss(),
    }),
    async drain(deadline) {
      host.state = 'draining';
      await sessions.endAll(deadline);
    },
    async close() {
      sessions.stopSweeping();
      await workspaces.close();
    },
  };
  return host;
}

function tokenFor({ served }: HostSession, principal: Principal, tokens: TokenBook): string {
  const scopes = (['read', 'call'] as const).filter((scope) => principal.scopes.has(scope));
  return tokens.issue({ sessionId: served.id, ownerId: principal.id, name: principal.name, scopes });
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
    // Not `tools()`: that builds every schema, which a thousand sessions would wait for.
    tools: served.session.snapshot.routes.map((route) => route.canonical_tool_name),
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
