/**
 * A number of calls that all hosts of a fleet share.
 *
 * A host takes a few at once from the count on the servers and gives them out itself, so most calls cost no message. What
 * it has taken counts as used until it gives the rest back. A host that is killed gives nothing back: the budget may end
 * early, and is never exceeded.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { BudgetPort } from '@tool-runtime/sdk';
import { compareAndAppend, readLast } from '../wire/compare-and-append.ts';
import { budgetSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { whenReady } from '../wire/streams.ts';

export interface FleetBudgetOptions {
  readonly wire: Wire;
  /** Names the count: calls of one name share one limit. Asked before each refill, so that a day can be part of it. */
  nameNow(): string;
  readonly calls: number;
  /** How many a host takes at once. */
  readonly share?: number;
}

interface Count {
  readonly used: number;
}

/** One percent, so that a few dead hosts do not eat the budget, and no more than a busy host uses in a moment. */
const shareOf = (calls: number): number => Math.min(100, Math.max(1, Math.floor(calls / 100)));
const TAKE_MS = 30_000;
const GIVE_BACK_MS = 3000;

export class FleetBudget implements BudgetPort {
  readonly #options: FleetBudgetOptions;
  #left = 0;
  #name: string;
  #refill: Promise<void> | undefined;

  constructor(options: FleetBudgetOptions) {
    this.#options = options;
    this.#name = options.nameNow();
  }

  async reserve(): Promise<void> {
    this.#turnOver();
    while (this.#left === 0) {
      // One for all that wait; each looks again afterwards, because the others may have taken what came.
      this.#refill ??= this.#take().finally(() => {
        this.#refill = undefined;
      });
      await this.#refill;
    }
    this.#left -= 1;
  }

  spend(): void {}

  async close(): Promise<void> {
    await this.#refill?.catch(() => undefined);
    const back = this.#left;
    this.#left = 0;
    if (back === 0) return;
    // What cannot be given back stays used.
    await this.#change((used) => Math.max(0, used - back), AbortSignal.timeout(GIVE_BACK_MS)).catch(() => undefined);
  }

  /** What was taken under another name is not worth anything any more. */
  #turnOver(): void {
    const name = this.#options.nameNow();
    if (name === this.#name) return;
    this.#name = name;
    this.#left = 0;
  }

  async #take(): Promise<void> {
    const { calls, share = shareOf(calls) } = this.#options;
    let taken = 0;
    await this.#change((used) => {
      taken = Math.min(share, calls - used);
      if (taken <= 0) throw spent(calls);
      return used + taken;
    }, AbortSignal.timeout(TAKE_MS));
    this.#left += taken;
  }

  async #change(next: (used: number) => number, signal: AbortSignal): Promise<void> {
    const { wire } = this.#options;
    const subject = budgetSubject(wire.tenant, this.#name);
    let { message } = await whenReady(() => readLast(wire, STREAMS.budgets, subject));
    for (;;) {
      const used = next(message?.json<Count>().used ?? 0);
      const changed = await compareAndAppend(wire, {
        stream: STREAMS.budgets,
        subject,
        body: JSON.stringify({ used } satisfies Count),
        expected: message?.seq ?? 0,
        signal,
      });
      if (changed.won) return;
      message = changed.last;
    }
  }
}

function spent(calls: number): ToolError {
  return new ToolError('E_POLICY', `Budget of the fleet is used up: ${calls} calls`, {
    details: { gate: 'budget', reason: 'budget_spent', field: 'budget.calls_per_day', next: 'try again tomorrow' },
  });
}
