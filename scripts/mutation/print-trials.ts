/** What became of the checks, for people and for programs. */
import path from 'node:path';
import { alignColumns } from '../../bench/table.ts';
import { shownTest } from './guard.ts';
import type { Trial } from './try-guards.ts';

export function trialLine({ guard, verdict, millis }: Trial): string {
  const time = `(${(millis / 1000).toFixed(1)} s)`;
  if (verdict.kind === 'killed') {
    return `${guard.id}: killed by "${verdict.test}" in ${path.basename(verdict.file)} ${time}`;
  }
  if (verdict.kind === 'invalid') return `${guard.id}: INVALID, ${verdict.reason} ${time}`;
  return `${guard.id}: SURVIVED ${guard.tests.map(shownTest).join(', ')} ${time}`;
}

/** One row for each list. */
export function trialTable(trials: readonly Trial[]): string[] {
  const lists = [...new Set(trials.map(({ guard }) => guard.list))];
  const rows = [...lists.map((list) => rowOf(path.posix.dirname(list), ofList(trials, list))), rowOf('all', trials)];
  return alignColumns([['', 'guards', 'killed', 'survived', 'invalid', 'seconds'], ...rows]);
}

export function trialRecord({ guard, verdict, millis }: Trial): Readonly<Record<string, unknown>> {
  const { kind: result, ...found } = verdict;
  return { id: guard.id, source: guard.file, result, ...found, millis: Math.round(millis) };
}

function ofList(trials: readonly Trial[], list: string): Trial[] {
  return trials.filter(({ guard }) => guard.list === list);
}

function rowOf(name: string, trials: readonly Trial[]): string[] {
  const counts = ['killed', 'survived', 'invalid'].map((kind) => trials.filter(({ verdict }) => verdict.kind === kind));
  const seconds = trials.reduce((sum, { millis }) => sum + millis, 0) / 1000;
  return [name, String(trials.length), ...counts.map((found) => String(found.length)), seconds.toFixed(0)];
}
