/**
 * What a figure should be. A missed budget is printed, never an error: the machine decides, and it is shared.
 *
 * Where a figure was taken in rounds and the limit lies inside their middle half, the run cannot tell whether the budget
 * is met: the verdict is `inside noise`.
 */
import { MIN_ROUNDS, quantile } from './measure.ts';
import { alignColumns } from './table.ts';

export interface Budget {
  readonly name: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly unit: string;
  readonly measured: number;
  /** The figure of each round; left out for figures that are taken once. */
  readonly rounds?: readonly number[];
}

export type Verdict = 'met' | 'missed' | 'inside noise';

export interface JudgedBudget extends Omit<Budget, 'rounds'> {
  readonly verdict: Verdict;
  /** The middle half of the rounds. */
  readonly spread?: { readonly low: number; readonly high: number };
}

export function judgeBudget({ rounds = [], ...budget }: Budget): JudgedBudget {
  const isMet = (figure: number): boolean =>
    figure <= (budget.atMost ?? Number.POSITIVE_INFINITY) && figure >= (budget.atLeast ?? Number.NEGATIVE_INFINITY);
  const verdict = isMet(budget.measured) ? 'met' : 'missed';
  if (rounds.length < MIN_ROUNDS) return { ...budget, verdict };
  const spread = { low: quantile(rounds, 0.25), high: quantile(rounds, 0.75) };
  const isNoise = isMet(spread.low) !== isMet(spread.high);
  return { ...budget, verdict: isNoise ? 'inside noise' : verdict, spread };
}

/** One row for each budget: name, wanted, measured, spread, verdict. */
export function budgetCells(budgets: readonly JudgedBudget[]): readonly (readonly string[])[] {
  return budgets.map(({ name, atMost, atLeast, unit, measured, spread, verdict }) => [
    name,
    atMost === undefined ? `>= ${figure(atLeast ?? 0)} ${unit}` : `<= ${figure(atMost)} ${unit}`,
    `${figure(measured)} ${unit}`,
    spread === undefined ? '' : `${figure(spread.low)} to ${figure(spread.high)}`,
    verdict,
  ]);
}

export const BUDGET_HEADER = ['budget', 'wanted', 'measured', 'middle half of the rounds', 'verdict'];

export function formatBudgets(budgets: readonly JudgedBudget[]): string {
  return alignColumns([BUDGET_HEADER, ...budgetCells(budgets)]).join('\n');
}

function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
}
