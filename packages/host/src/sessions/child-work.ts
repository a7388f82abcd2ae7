/**
 * Children that do not work on the host of their parent: gives those of this host out to others, and takes in those of others.
 *
 * Two proofs are asked of who takes one: the host must vouch for the client that opened the child, and show the child's token.
 * The client itself has proven to the servers of the fleet that it may reach the workspace where the child is to work.
 */
import {
  isToolError,
  type JsonObject,
  type OpenSessionBody,
  type ReportChildBody,
  type TakeChildBody,
  ToolError,
} from '@tool-runtime/protocol';
import type { BudgetState } from '@tool-runtime/sdk';
import { fleetOwner, isFleetClient, type Principal } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import { unknownSession } from './refusals.ts';
import type { HostChild, HostSession } from './session-table.ts';

/** What the fleet does for children between its hosts. */
export interface ChildCarrier {
  /** Keeps the package of a child where other hosts find it; resolves with the name for it. */
  putPackage?(text: string): Promise<string>;
  /** Takes a child whose parent works in `workspace`, on the host that holds that. `name`: who has shown its token here. */
  takeChild?(child: Under & { readonly name: string }): Promise<ChildTie>;
}

export type ChildReport = Pick<ReportChildBody, 'usage' | 'spent'>;

/** A child of a session on another host, which works here. */
export interface ChildTie {
  /** As the parent's host gave it. */
  readonly grant: JsonObject;
  /** What the parent's host wants; `lost` when it is not heard of any more. */
  onAsked(listener: (asked: 'end' | 'cancel' | 'lost') => void): void;
  report(report: ChildReport): Promise<void>;
  /** Never rejects. */
  finish(report: ChildReport, ended: NonNullable<ReportChildBody['ended']>): Promise<void>;
}

/** For hosts: what the one that takes a child gets. */
export interface TakenChild {
  readonly grant: JsonObject;
  /** `send`: what its parent wants. `end`: it is over. Gives a function for when the connection is gone. */
  attach(send: (asked: 'end' | 'cancel') => void, end: () => void): () => void;
}

export interface ChildWork {
  /** Throws unless the session belongs to a client that came through the fleet. */
  requireClient(parent: HostSession): void;
  take(principal: Principal, id: string, body: TakeChildBody): Promise<TakenChild>;
  report(principal: Principal, id: string, body: ReportChildBody): void;
  /** Takes the child of another host that the client shows the token of. */
  tie(principal: Principal, under: Under): Promise<ChildTie>;
}

type Under = NonNullable<OpenSessionBody['under']>;

/** So long a host that has taken a child may be gone, or take to cancel. Longer than such a host waits for this one. */
const LOST_MS = 10_000;

interface ChildWorkOptions {
  readonly fleet: ChildCarrier;
  readonly tokens: TokenBook;
  childOf(id: string): HostChild | undefined;
}

export function createChildWork({ fleet, tokens, childOf }: ChildWorkOptions): ChildWork {
  const connections = new WeakMap<HostSession, { open: number; gone?: NodeJS.Timeout; isCancelled?: true }>();

  /** The same refusal for everything that does not fit, so that nothing can be probed. */
  function find(principal: Principal, id: string) {
    const session = childOf(id);
    const { via, name, workspace = '' } = principal;
    const work = session?.child.elsewhere;
    if (via === undefined || work === undefined || session?.ownerId !== fleetOwner(name, workspace)) {
      throw unknownSession();
    }
    return { session, work, via };
  }

  return {
    requireClient({ ownerId }) {
      if (fleet.takeChild === undefined || !isFleetClient(ownerId)) throw noFleetClient();
    },
    async take(principal, id, { token, holder }) {
      const { session, work, via } = find(principal, id);
      if (tokens.find(token)?.sessionId !== id || fleet.putPackage === undefined) throw unknownSession();
      // First, so that a host that cannot be given it has not taken the child.
      const reference = await fleet.putPackage(JSON.stringify(work.package));
      const { package: _, ...grant } = await work.take(holder, via);
      const state = connections.get(session) ?? { open: 0 };
      connections.set(session, state);
      const loseLater = () => setTimeout(() => work.lose(), LOST_MS).unref();
      const waitForIt = (): void => {
        clearTimeout(state.gone);
        state.gone = loseLater();
      };
      // From here on the child waits for this host, so it must hear of it or go on without.
      if (state.open === 0) waitForIt();
      return {
        grant: { ...(grant as unknown as JsonObject), package_ref: reference },
        attach(send, end) {
          clearTimeout(state.gone);
          state.open += 1;
          const stop = work.listen((asked) => {
            send(asked);
            // Counted from the first time: coming back gives a host no more time.
            if (asked === 'cancel' && state.isCancelled === undefined) loseLater();
            if (asked === 'cancel') state.isCancelled = true;
          });
          // While the other host listens, the session does not fall silent.
          const leave = session.served.listen('progress', () => {}, end);
          return () => {
            stop();
            leave();
            state.open -= 1;
            if (state.open === 0) waitForIt();
          };
        },
      };
    },
    report(principal, id, { holder, ended, ...report }) {
      const { work } = find(principal, id);
      if (ended === undefined) work.report(holder, report);
      else work.finish(holder, report, ended);
    },
    async tie({ id, name }, under) {
      if (fleet.takeChild === undefined || !isFleetClient(id)) throw noFleetClient();
      const tie = await fleet.takeChild({ ...under, name }).catch((thrown: unknown) => {
        throw isAbsent(thrown) ? unknownSession() : thrown;
      });
      if (isOf(tie.grant, under.session_id, name)) return tie;
      await tie.finish({ usage: { calls: 0, errors: 0, bytes: 0, duration_ms: 0 }, spent: {} }, 'cancelled');
      throw unknownSession();
    },
  };
}

/** Whether the other workspace has a host is for those to know who may reach it. */
function isAbsent(thrown: unknown): boolean {
  return isToolError(thrown) && thrown.details['reason'] === 'no_host';
}

/** Records and keys of the child are kept under its actor, so another host names none that is not its client's. */
function isOf({ session_id, actor }: JsonObject, id: string, name: string): boolean {
  return session_id === id && typeof actor === 'string' && actor.startsWith(`${name}/`);
}

/** How often a host says what a child used, where that has changed. */
const REPORT_MS = 1000;

/** From its opening to its end. Resolves when the parent's host knows the end, or is not waited for any more. */
export async function followTied(
  tie: ChildTie,
  session: HostSession,
  close: (how: { readonly cancel: boolean; readonly children: 'end' }) => Promise<void>,
): Promise<void> {
  const inner = session.served.session;
  const asked = { cancel: false };
  const soFar = () => ({ usage: inner.usage(), spent: spentOf(inner.budget()) });
  let last = '';
  const reporting = setInterval(() => {
    const report = soFar();
    const now = JSON.stringify(report);
    if (now !== last) void tie.report(report);
    last = now;
  }, REPORT_MS).unref();
  tie.onAsked((what) => {
    asked.cancel ||= what !== 'end';
    // How it ended is on record; that it could not be recorded is reported by the session itself.
    close({ cancel: what !== 'end', children: 'end' }).catch(() => undefined);
  });
  const how = await inner.ended;
  clearInterval(reporting);
  const isCancelled = asked.cancel || session.isCancelled;
  await tie.finish(soFar(), how === 'expired' ? how : isCancelled ? 'cancelled' : 'completed');
}

function spentOf(budget: BudgetState): ChildReport['spent'] {
  return Object.fromEntries(Object.entries(budget).map(([limit, { used }]) => [limit, used] as const));
}

export function noFleetClient(): ToolError {
  return new ToolError('E_POLICY', 'Only a client of a fleet opens children in other workspaces', {
    path: 'workspace',
    details: { gate: 'session', reason: 'not_in_fleet', next: 'connect with connectToFleet, or leave workspace out' },
  });
}
