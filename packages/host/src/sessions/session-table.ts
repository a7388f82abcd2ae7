/** The sessions of a host, who owns them, and when they end by themselves. */
import type { SessionInfo } from '@tool-runtime/protocol';
import type { BudgetState, ChildSession } from '@tool-runtime/sdk';
import type { Principal } from '../auth/principal.ts';
import type { ServedSession } from './served-session.ts';

export interface HostSession {
  readonly served: ServedSession;
  /** The same session with what only a child has; undefined for one without a parent. */
  readonly child: ChildSession | undefined;
  readonly ownerId: string;
  readonly workspace: string;
  readonly actor: string;
  readonly client: string;
  readonly openedAt: number;
  /** How many of its calls it runs at once. */
  readonly maxInFlight: number;
  /** Ends it when no message comes for so long. */
  readonly heartbeatMs: number;
  /** The client named the limit itself: then neither running calls nor open connections keep the session alive. */
  readonly isStrict: boolean;
  /** Opened for one connection: it ends soon after the last one is gone. */
  readonly isOfConnection: boolean;
  isClosing: boolean;
  /** Its running calls were not waited for. */
  isCancelled: boolean;
  /** Of a child whose parent is on another host: settles when that host knows its end, or is not waited for any more. */
  tied?: Promise<void>;
}

export interface HostChild extends HostSession {
  readonly child: ChildSession;
}

export function infoOf(session: HostSession): SessionInfo {
  const { served, child } = session;
  return {
    session_id: served.id,
    workspace: session.workspace,
    actor: session.actor,
    client: session.client,
    state: session.isClosing ? 'closing' : 'open',
    opened_at: session.openedAt,
    in_flight: served.inFlight,
    last_event_id: served.events.lastId,
    heartbeat_timeout_ms: session.heartbeatMs,
    fingerprint: served.session.snapshot.runtime_package_fingerprint,
    ...(child === undefined ? {} : { parent_session_id: child.parentId, agent_id: child.agentId }),
    ...budgetOf(served.session.budget()),
  };
}

function budgetOf(budget: BudgetState): Pick<SessionInfo, 'budget'> {
  return Object.keys(budget).length === 0 ? {} : { budget: { ...budget } };
}

/** Its own token reaches one session; other tokens reach what they opened, an admin's reaches all. */
export function mayUse(principal: Principal, session: HostSession): boolean {
  if (principal.sessionId !== undefined) return principal.sessionId === session.served.id;
  return session.ownerId === principal.id || principal.scopes.has('admin');
}

/** Whether it may know of a session at all: one that it may use, or any for an auditor. */
export function maySee(principal: Principal, session: HostSession): boolean {
  return mayUse(principal, session) || (principal.sessionId === undefined && principal.scopes.has('audit'));
}

/** No client is connected and nothing runs: it only waits for a client that may come back. */
export function isAbandoned({ isOfConnection, isClosing, served }: HostSession): boolean {
  return isOfConnection && !isClosing && served.listeners === 0 && served.inFlight === 0 && !hasChildren(served);
}

export function hasChildren({ session }: ServedSession): boolean {
  return session.children().length > 0;
}

/** Why the session should end now, if it should. */
export function dueEnd(session: HostSession, now: number, resumeMs: number): 'expired' | 'closed' | undefined {
  if (session.isClosing) return undefined;
  const { served } = session;
  const silent = now - served.lastSeen;
  // A parent that waits for its children is silent for a good reason; they have limits of their own.
  const isBusy = (): boolean =>
    !session.isStrict && (served.inFlight > 0 || served.listeners > 0 || hasChildren(served));
  if (silent > session.heartbeatMs && !isBusy()) return 'expired';
  if (session.isOfConnection && served.listeners === 0 && silent > resumeMs) return 'closed';
  return undefined;
}
