/** What a figure should be. A missed budget is printed, never an error: the machine decides, and it is shared. */
import { alignColumns } from './table.ts';

export interface Budget {
  readonly name: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly unit: string;
  readonly measured: number;
}

export interface JudgedBudget extends Budget {
  readonly met: boolean;
}

export function judgeBudget(budget: Budget): JudgedBudget {
  const { measured, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = budget;
  return { ...budget, met: measured <= atMost && measured >= atLeast };
}

export function formatBudgets(budgets: readonly JudgedBudget[]): string {
  const header = ['budget', 'wanted', 'measured', ''];
  const rows = budgets.map(({ name, atMost, atLeast, unit, measured, met }) => [
    name,
    atMost === undefined ? `>= ${figure(atLeast ?? 0)} ${unit}` : `<= ${figure(atMost)} ${unit}`,
    `${figure(measured)} ${unit}`,
    met ? 'met' : 'missed',
  ]);
  return alignColumns([header, ...rows]).join('\n');
}

function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
}
