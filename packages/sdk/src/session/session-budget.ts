/**
 * What one session may use, from the registry: calls, bytes, time. Counted here, refused before anything runs.
 *
 * A child's share is reserved from its parent's while the child is open, and the rest is given back at the end. A limit
 * the child has no share of is the parent's own, and both draw on it. So a family never uses more than its first
 * session was given.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { BudgetPort, BudgetRequest } from '../contracts/policy.ts';
import type { Budgets } from '../contracts/registry.ts';
import type { Totals } from '../events/metrics.ts';
import type { Usage } from './child-session.ts';

const LIMITS = ['max_calls', 'max_bytes', 'max_duration_ms'] as const;
type Limit = (typeof LIMITS)[number];
type Amounts = Record<Limit, number>;

/** How much of each limit is used, also by children; limits that a session shares with its parent are the parent's. */
export type BudgetState = Readonly<Partial<Record<Limit, { readonly used: number; readonly given: number }>>>;

export interface SessionBudget extends BudgetPort {
  /** Only limits of its own. */
  state(): BudgetState;
  /** Its own limits, and the nearest ancestor's where it has none. */
  limits(): Budgets;
  /** Throws E_POLICY when more is asked for than is left. */
  carve(share: Budgets): CarvedBudget;
}

/** A child's budget. */
export interface CarvedBudget extends SessionBudget {
  /** Gives back what was not used, once no child draws on it any more: one that lives on keeps to the same limits. */
  release(): void;
  /** Spent where this process cannot see it, and not to be refused any more. */
  draw(spent: Budgets): void;
  /** What was used cannot be known: all of its own share counts. */
  forfeit(): void;
}

export const NO_USAGE: Usage = Object.freeze({ calls: 0, errors: 0, bytes: 0, duration_ms: 0 });

export function createSessionBudget(limits: Budgets): SessionBudget {
  return new Budget(limits, undefined);
}

class Budget implements CarvedBudget {
  readonly #limits: Budgets;
  readonly #parent: Budget | undefined;
  readonly #used: Amounts = { max_calls: 0, max_bytes: 0, max_duration_ms: 0 };
  /** What open children have and have not used. */
  readonly #held: Amounts = { max_calls: 0, max_bytes: 0, max_duration_ms: 0 };
  #children = 0;
  #wantsRelease = false;
  #isReleased = false;

  constructor(limits: Budgets, parent: Budget | undefined) {
    this.#limits = limits;
    this.#parent = parent;
  }

  reserve(_request: BudgetRequest): void {
    for (const limit of LIMITS) if (this.left(limit) <= 0) throw spent(limit, this.limitOf(limit));
    this.charge('max_calls', 1);
  }

  spend(_request: BudgetRequest, { bytes, durationMs }: { readonly bytes: number; readonly durationMs: number }): void {
    this.charge('max_bytes', bytes);
    this.charge('max_duration_ms', durationMs);
  }

  state(): BudgetState {
    const own = LIMITS.flatMap((limit) => {
      const given = this.#limits[limit];
      return given === undefined ? [] : [[limit, { used: this.#used[limit], given }] as const];
    });
    return Object.fromEntries(own);
  }

  limits(): Budgets {
    const set = LIMITS.flatMap((limit) => {
      const given = this.limitOf(limit);
      return given === undefined ? [] : [[limit, given] as const];
    });
    return Object.fromEntries(set);
  }

  draw(spent: Budgets): void {
    for (const limit of LIMITS) this.charge(limit, spent[limit] ?? 0);
  }

  forfeit(): void {
    for (const limit of LIMITS) this.charge(limit, this.unusedShare(limit));
  }

  carve(share: Budgets): CarvedBudget {
    for (const limit of LIMITS) {
      const asked = share[limit];
      const left = this.left(limit);
      if (asked !== undefined && asked > left) throw moreThanLeft(limit, asked, left);
    }
    for (const limit of LIMITS) this.hold(limit, share[limit] ?? 0);
    this.#children += 1;
    return new Budget(share, this);
  }

  release(): void {
    this.#wantsRelease = true;
    this.releaseWhenAlone();
  }

  childReleased(): void {
    this.#children -= 1;
    if (this.#wantsRelease) this.releaseWhenAlone();
  }

  releaseWhenAlone(): void {
    if (this.#isReleased || this.#children > 0) return;
    this.#isReleased = true;
    for (const limit of LIMITS) this.#parent?.hold(limit, -this.unusedShare(limit));
    this.#parent?.childReleased();
  }

  /** Of the own limit, or the nearest ancestor's that has one; nothing once a share in between was given back. */
  left(limit: Limit): number {
    if (this.isOver()) return 0;
    const own = this.#limits[limit];
    if (own !== undefined) return own - this.#used[limit] - this.#held[limit];
    return this.#parent?.left(limit) ?? Number.POSITIVE_INFINITY;
  }

  isOver(): boolean {
    return this.#isReleased || this.#parent?.isOver() === true;
  }

  limitOf(limit: Limit): number | undefined {
    return this.#limits[limit] ?? this.#parent?.limitOf(limit);
  }

  unusedShare(limit: Limit): number {
    return Math.max(0, (this.#limits[limit] ?? 0) - this.#used[limit]);
  }

  /** What is used here is used of the parent's too: from the share it held back, where there is one. */
  charge(limit: Limit, amount: number): void {
    if (!this.#isReleased) this.#parent?.hold(limit, -Math.min(amount, this.unusedShare(limit)));
    this.#used[limit] += amount;
    this.#parent?.charge(limit, amount);
  }

  /** Where this budget has no limit, the hold belongs to the ancestor that has. */
  hold(limit: Limit, amount: number): void {
    if (this.#limits[limit] !== undefined) this.#held[limit] += amount;
    else this.#parent?.hold(limit, amount);
  }
}

function spent(limit: Limit, given: number | undefined): ToolError {
  return policyDenial(`Budget of the session is used up: ${limit} ${given ?? 'of a parent'}`, {
    details: { gate: 'budget', reason: 'budget_spent', field: `budgets.${limit}`, next: 'open a new session' },
  });
}

function moreThanLeft(limit: Limit, asked: number, left: number): ToolError {
  return policyDenial(`Child asks for a larger budget than its parent has left: ${limit} ${asked}`, {
    path: `budget.${limit}`,
    details: { gate: 'budget', reason: 'budget_overreach', left, next: `ask for at most ${Math.max(0, left)}` },
  });
}

/** What a session and its children used, added up. */
export function usageOf(totals: Totals): Usage {
  return Object.values(totals).reduce<Usage>(
    (sum, { calls, errors, bytes, durationMs }) => addUsage(sum, { calls, errors, bytes, duration_ms: durationMs }),
    NO_USAGE,
  );
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    bytes: one.bytes + other.bytes,
    duration_ms: one.duration_ms + other.duration_ms,
  };
}
