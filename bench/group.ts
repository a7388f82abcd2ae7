/** A set of measurements that belong together and are run by name. */
import type { Budget } from './budget.ts';
import type { Plan } from './measure.ts';
import type { Table } from './table.ts';

export interface GroupOptions {
  /** Shows that everything runs; the figures mean nothing. */
  readonly quick: boolean;
}

export interface GroupReport {
  readonly tables: readonly Table[];
  readonly budgets: readonly Budget[];
}

export interface Group {
  readonly name: string;
  readonly summary: string;
  run(options: GroupOptions): Promise<GroupReport>;
}

/** Servers need thousands of calls until their code is compiled; a session of a day is what is meant, for them and for peers. */
const THOROUGH: Plan = {
  rounds: 24,
  samplesPerRound: 10,
  sampleMs: 2,
  warmUpMs: 2000,
  quietMs: 500,
  longestMs: 25_000,
};
const QUICK: Plan = { rounds: 2, samplesPerRound: 2, sampleMs: 0.05, warmUpMs: 0, quietMs: 0 };

/** For calls that take microseconds. */
export function callPlan({ quick }: GroupOptions): Plan {
  return quick ? QUICK : THOROUGH;
}
