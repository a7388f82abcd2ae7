/** docs/performance.md: the newest report of every group, as it was measured, budgets with met or missed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatBudgets, type JudgedBudget } from './budget.ts';
import type { Group } from './group.ts';
import { formatTable, type Table } from './table.ts';

interface Report {
  readonly group: string;
  readonly quick: boolean;
  readonly at: string;
  readonly machine: { readonly summary: string };
  readonly tables: readonly Table[];
  readonly budgets: readonly JudgedBudget[];
}

/** Groups without a thorough report are named as not measured: a gap is not hidden. */
export function performancePage(groups: readonly Group[], results: string): string {
  const reports = groups.map((group) => ({ group, report: readReport(join(results, `${group.name}.json`)) }));
  const measured = reports.flatMap(({ report }) => (report === undefined ? [] : [report]));
  const missing = reports.filter(({ report }) => report === undefined).map(({ group }) => group.name);
  return [
    '# Performance',
    '',
    'Written by `npm run bench` from its own results. Each group measures this project beside peers or limits in the same run, taking',
    'turns, on one machine; only the ratios inside one table mean anything elsewhere. Budgets are goals, not tests: a missed one is',
    'listed as missed.',
    '',
    ...summary(measured),
    ...(missing.length === 0 ? [] : ['', `Not measured yet: ${missing.join(', ')}.`]),
    ...reports.flatMap(({ group, report }) => (report === undefined ? [] : section(group, report))),
    '',
  ].join('\n');
}

function readReport(path: string): Report | undefined {
  if (!existsSync(path)) return undefined;
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  return report.quick ? undefined : report;
}

function summary(reports: readonly Report[]): string[] {
  const budgets = reports.flatMap(({ group, budgets: judged }) => judged.map((budget) => ({ group, ...budget })));
  const missed = budgets.filter(({ met }) => !met);
  return [
    `${budgets.length - missed.length} of ${budgets.length} budgets met. Missed:`,
    '',
    '| group | budget | wanted | measured |',
    '|---|---|---|---|',
    ...missed.map(({ group, name, atMost, atLeast, unit, measured }) => {
      const wanted = atMost === undefined ? `≥ ${figure(atLeast ?? 0)}` : `≤ ${figure(atMost)}`;
      return `| ${group} | ${name} | ${wanted} ${unit} | ${figure(measured)} ${unit} |`;
    }),
  ];
}

function section(group: Group, { at, machine, tables, budgets }: Report): string[] {
  return [
    '',
    `## ${group.name}: ${group.summary}`,
    '',
    `${at.slice(0, 10)}, ${machine.summary}. Chart: \`bench/results/${group.name}.svg\` after a run.`,
    '',
    '```',
    tables.map(formatTable).join('\n\n'),
    '',
    formatBudgets(budgets),
    '```',
  ];
}

function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
}
