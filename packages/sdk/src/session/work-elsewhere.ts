/**
 * The work of a child whose calls are made on another host: what that host is given, what it says is used, and how each
 * side learns that the other has ended.
 *
 * Here the child has its records, its share of the budget and its end, and makes no calls.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { contractViolation, policyDenial } from '../contracts/failures.ts';
import type { Budgets } from '../contracts/registry.ts';
import type { RuntimePackage } from '../package/runtime-package.ts';
import type { ChildGrant } from './child-grant.ts';
import type { Usage } from './child-session.ts';
import { NO_USAGE } from './session-budget.ts';

export type ElsewhereEnd = 'completed' | 'cancelled' | 'expired' | 'lost';

export interface WorkReport {
  readonly usage: Usage;
  /** Of each limit of its share. */
  readonly spent: Budgets;
}

export interface WorkSetting {
  /** Name of the workspace it works in. */
  readonly workspace: string;
  readonly grant: ChildGrant;
  /** On record before the other host learns anything. */
  onTaken(host: string): Promise<void>;
  /** What was spent of its share since the last time. */
  onSpent(spent: Budgets): void;
  /** What the other host used cannot be known. */
  onLost(): void;
}

export class WorkElsewhere {
  readonly workspace: string;
  readonly #setting: WorkSetting;
  readonly #over = Promise.withResolvers<ElsewhereEnd>();
  #holder: string | undefined;
  #onRecord: Promise<void> | undefined;
  #isOver = false;
  #asked: 'end' | 'cancel' | undefined;
  #listener: ((asked: 'end' | 'cancel') => void) | undefined;
  #used: Usage = NO_USAGE;
  #spent = { max_calls: 0, max_bytes: 0, max_duration_ms: 0 };

  constructor(setting: WorkSetting) {
    this.workspace = setting.workspace;
    this.#setting = setting;
  }

  /** Cut for the child; part of its grant. */
  get package(): RuntimePackage {
    return this.#setting.grant.package;
  }

  /** As far as it was reported. */
  get usage(): Usage {
    return this.#used;
  }

  /** How it ended over there. */
  get over(): Promise<ElsewhereEnd> {
    return this.#over.promise;
  }

  /** Resolves with the grant. The same holder may come back, as after a break of its connection; no other may. */
  async take(holder: string, host: string): Promise<ChildGrant> {
    if (this.#isOver) throw ended();
    if (this.#holder !== undefined && this.#holder !== holder) throw taken();
    this.#holder = holder;
    this.#onRecord ??= this.#setting.onTaken(host);
    try {
      await this.#onRecord;
    } catch (thrown) {
      this.#leave(holder);
      throw thrown;
    }
    return this.#setting.grant;
  }

  /** Told at once, and once, what this side wants. */
  listen(listener: (asked: 'end' | 'cancel') => void): () => void {
    this.#listener = listener;
    if (this.#asked !== undefined) listener(this.#asked);
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }

  /** All so far: a report that comes late or twice changes nothing. */
  report(holder: string, { usage, spent }: WorkReport): void {
    if (holder !== this.#holder || this.#isOver) throw ended();
    // A limit that is compared with something that is no number holds nothing back.
    for (const [name, count] of Object.entries({ ...usage, ...spent })) requireCount(name, count);
    const [before, now] = [this.#spent, later(LIMITS, this.#spent, spent)];
    this.#setting.onSpent({
      max_calls: now.max_calls - before.max_calls,
      max_bytes: now.max_bytes - before.max_bytes,
      max_duration_ms: now.max_duration_ms - before.max_duration_ms,
    });
    this.#used = later(USAGE, this.#used, usage);
    this.#spent = now;
  }

  /** The last report. */
  finish(holder: string, report: WorkReport, how: Exclude<ElsewhereEnd, 'lost'>): void {
    this.report(holder, report);
    this.#end(how);
  }

  /** The other host has not been heard of for too long. */
  lose(): void {
    if (this.#isOver) return;
    this.#setting.onLost();
    this.#end('lost');
  }

  /** Has it end after its running calls. Resolves when it is over. */
  async end(): Promise<void> {
    this.#ask('end');
    await this.over;
  }

  cancel(): void {
    this.#ask('cancel');
  }

  #ask(asked: 'end' | 'cancel'): void {
    if (this.#isOver || this.#asked === 'cancel' || this.#asked === asked) return;
    this.#asked = asked;
    if (this.#holder === undefined) this.#endUntaken(asked);
    else this.#listener?.(asked);
  }

  /** The holder was given nothing: nothing was spent, and another may take the child. */
  #leave(holder: string): void {
    if (this.#isOver || this.#holder !== holder) return;
    this.#holder = undefined;
    this.#onRecord = undefined;
    if (this.#asked !== undefined) this.#endUntaken(this.#asked);
  }

  #endUntaken(asked: 'end' | 'cancel'): void {
    this.#end(asked === 'end' ? 'completed' : 'cancelled');
  }

  #end(how: ElsewhereEnd): void {
    this.#isOver = true;
    this.#over.resolve(how);
  }
}

const USAGE = ['calls', 'errors', 'bytes', 'duration_ms'] as const;
const LIMITS = ['max_calls', 'max_bytes', 'max_duration_ms'] as const;

type Counts<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** More than any child uses, and small enough that sums stay exact. */
const MOST = 1e15;

function requireCount(name: string, count: unknown): void {
  if (typeof count === 'number' && count >= 0 && count <= MOST) return;
  throw contractViolation(`Report of a child has no number from zero up: ${name}`, { field: name });
}

function later<Name extends string>(names: readonly Name[], one: Counts<Name>, other: Counts<Name>) {
  const counts = names.map((name) => [name, Math.max(one[name] ?? 0, other[name] ?? 0)] as const);
  return Object.fromEntries(counts) as Record<Name, number>;
}

/** For calls and children of the session that only stands for the child here. */
export function worksElsewhere(workspace: string): ToolError {
  return policyDenial(`The child works on another host: in ${workspace}`, {
    details: {
      gate: 'session',
      reason: 'works_elsewhere',
      workspace,
      next: 'call it on the connection that openChild gave',
    },
  });
}

function ended(): ToolError {
  return policyDenial('The child has ended, or another host reports for it', {
    details: { gate: 'session', reason: 'session_closed', next: 'open a new child' },
  });
}

function taken(): ToolError {
  return contractViolation('The child works already', { reason: 'child_taken', next: 'open another child' });
}
