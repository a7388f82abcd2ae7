/**
 * `npm run bench [-- group … --quick --results folder]`: runs the groups of the catalog, all or the named ones.
 * `npm run bench -- conformance` measures nothing: it runs the conformance suite against this project and its peers.
 *
 * Prints tables and budgets, writes the same to bench/results/<group>.json with a chart beside it, and renews
 * docs/performance.md and docs/performance/ from the newest results of all groups. Ends with 0 also when a budget is
 * missed: a figure depends on the machine, and a red build because of a busy one does not help.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBudgets, judgeBudget } from './budget.ts';
import * as catalog from './catalog.ts';
import { chartOf } from './chart.ts';
import { CONFORMANCE, CONFORMANCE_SUMMARY, runConformance } from './conformance.ts';
import type { Group, GroupOptions } from './group.ts';
import { writePage } from './performance-page.ts';
import { formatTable } from './table.ts';

const PAGE = join(import.meta.dirname, '../docs/performance.md');
const GROUPS: readonly Group[] = Object.values(catalog);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false }, results: { type: 'string' } },
  });
  if (positionals.includes(CONFORMANCE)) {
    if (positionals.length > 1) return refuse(`${CONFORMANCE} runs alone: it measures nothing`);
    return await runConformance();
  }
  const unknown = positionals.find((name) => !GROUPS.some((group) => group.name === name));
  if (unknown !== undefined) {
    const known = GROUPS.map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`);
    return refuse([`No such group: ${unknown}`, ...known, `  ${CONFORMANCE} ${CONFORMANCE_SUMMARY}`].join('\n'));
  }
  const results = values.results ?? join(import.meta.dirname, 'results');
  mkdirSync(results, { recursive: true });
  const chosen = positionals.length === 0 ? GROUPS : GROUPS.filter(({ name }) => positionals.includes(name));
  const advice = values.quick
    ? 'Quick: these figures mean nothing.'
    : 'Only the ratios inside one table are the result.';
  console.log(`${machine().summary}\n${advice}`);
  for (const group of chosen) await runGroup(group, { quick: values.quick }, results);
  const page = values.results === undefined ? PAGE : join(results, 'performance.md');
  if (!values.quick || values.results !== undefined) writePage(page, GROUPS, results);
  return 0;
}

function refuse(message: string): number {
  console.error(message);
  return 2;
}

async function runGroup(group: Group, options: GroupOptions, results: string): Promise<void> {
  console.log(`\n== ${group.name}: ${group.summary}`);
  const began = performance.now();
  const { tables, budgets } = await group.run(options);
  const seconds = Math.round((performance.now() - began) / 1000);
  const judged = budgets.map(judgeBudget);
  for (const table of tables) console.log(`\n${formatTable(table)}`);
  console.log(`\n${formatBudgets(judged)}\n\n${group.name}: ${seconds} s`);
  const report = {
    group: group.name,
    ...options,
    at: new Date().toISOString(),
    machine: machine(),
    seconds,
    tables,
    budgets: judged,
  };
  writeFileSync(join(results, `${group.name}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(join(results, `${group.name}.svg`), chartOf(group.name, tables));
}

function machine() {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  const [load = 0] = loadavg();
  const summary = `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} x ${processor}, load ${load.toFixed(2)}`;
  return { summary, node: process.versions.node, processors: availableParallelism(), processor, load };
}

if (import.meta.main) process.exitCode = await main();
