/**
 * docs/performance.md: of every group the budgets of its newest report with their verdicts, a picture, and a link to the
 * raw output. Reports, pictures and outputs are kept beside the page, in docs/performance, so that a run of some groups keeps
 * what others measured before.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BUDGET_HEADER, budgetCells, formatBudgets, type JudgedBudget, type Verdict } from './budget.ts';
import type { Group } from './group.ts';
import { formatTable, type Table } from './table.ts';

export interface Report {
  readonly group: string;
  readonly quick: boolean;
  readonly at: string;
  readonly machine: { readonly summary: string };
  /** How long the group took. */
  readonly seconds?: number;
  readonly tables: readonly Table[];
  readonly budgets: readonly JudgedBudget[];
}

/** What a group printed, for people who want all figures. */
export function rawOutput({ at, machine, tables, budgets }: Report): string {
  return [`${at.slice(0, 10)}, ${machine.summary}`, ...tables.map(formatTable), formatBudgets(budgets), ''].join(
    '\n\n',
  );
}

/** Writes the page and the folder beside it. Groups without a thorough report are named: a gap is not hidden. */
export function writePage(page: string, groups: readonly Group[], results: string): void {
  const folder = join(dirname(page), basename(page, '.md'));
  mkdirSync(folder, { recursive: true });
  for (const { name } of groups) keepReport(name, results, folder);
  const reports = groups.map((group) => ({ group, report: readReport(join(folder, `${group.name}.json`)) }));
  const measured = reports.flatMap(({ report }) => (report === undefined ? [] : [report]));
  const missing = reports.filter(({ report }) => report === undefined).map(({ group }) => group.name);
  const text = [
    '# Performance',
    '',
    'Written by `npm run bench` from its own results. Each group measures this project beside peers or limits in the same run, taking',
    'turns, on one machine; only the ratios inside one table mean anything elsewhere. Budgets are goals, not tests: a missed one is',
    'listed as missed. `inside noise` means that the limit lies in the middle half of the rounds, so this run cannot tell. What is measured in',
    'process, peers too, runs with the V8 flag that the servers of this project set ([why](embed.md#speed)).',
    '',
    `${count(measured, 'met')} budgets met, ${count(measured, 'inside noise')} inside noise, ${count(measured, 'missed')} missed.`,
    ...(missing.length === 0 ? [] : ['', `Not measured yet: ${missing.join(', ')}.`]),
    ...reports.flatMap(({ group, report }) => (report === undefined ? [] : section(group, report, basename(folder)))),
    '',
  ];
  writeFileSync(page, text.join('\n'));
}

function keepReport(name: string, results: string, folder: string): void {
  const report = readReport(join(results, `${name}.json`));
  if (report === undefined) return;
  writeFileSync(join(folder, `${name}.txt`), rawOutput(report));
  for (const kind of ['json', 'svg']) copyFileSync(join(results, `${name}.${kind}`), join(folder, `${name}.${kind}`));
}

function count(reports: readonly Report[], wanted: Verdict): number {
  return reports.flatMap(({ budgets }) => budgets).filter(({ verdict }) => verdict === wanted).length;
}

/** A report of an earlier form has no verdicts: the group counts as not measured. */
function readReport(path: string): Report | undefined {
  if (!existsSync(path)) return undefined;
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  return report.quick || report.budgets.some(({ verdict }) => verdict === undefined) ? undefined : report;
}

function section(group: Group, { at, machine, seconds, budgets }: Report, folder: string): string[] {
  return [
    '',
    `## ${group.name}: ${group.summary}`,
    '',
    ...[BUDGET_HEADER, BUDGET_HEADER.map(() => '---'), ...budgetCells(budgets)].map(
      (cells) => `| ${cells.join(' | ')} |`,
    ),
    '',
    `![${group.name}: median times](${folder}/${group.name}.svg)`,
    '',
    `${at.slice(0, 10)}, ${machine.summary}${seconds === undefined ? '' : `, ${seconds} s`}. [All figures](${folder}/${group.name}.txt).`,
  ];
}
