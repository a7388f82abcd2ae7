/** How many rows of each kind there are, and when. */
import type { RecordFilter } from '@tool-runtime/protocol';
import { ROW_FIELDS, type Row, type RowField, rowTest } from '@tool-runtime/protocol/internal';

/** A facet of ids would only repeat the list. */
const FACETS = (Object.keys(ROW_FIELDS) as RowField[]).filter((name) => name !== 'call');
const MAX_VALUES = 12;
const STEPS = 60;

export interface Facet {
  readonly value: string;
  readonly count: number;
}

/** The most frequent values of each field among the rows that the rest of the filter lets through. */
export function facetsOf(rows: readonly Row[], filter: RecordFilter): Readonly<Record<string, readonly Facet[]>> {
  const all = rowTest(filter);
  const counts = new Map<RowField, Map<string, number>>(FACETS.map((name) => [name, new Map()]));
  const open = FACETS.filter((name) => filter[name] !== undefined && filter[name] !== '');
  const others = new Map(open.map((name) => [name, rowTest(filter, name)]));
  for (const row of rows) {
    const passes = all(row);
    for (const name of FACETS) {
      if (!(others.get(name)?.(row) ?? passes)) continue;
      const value = ROW_FIELDS[name](row);
      const counted = counts.get(name);
      if (value !== undefined && counted !== undefined) counted.set(value, (counted.get(value) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].map(([name, values]) => [name, mostFrequent(values)]));
}

function mostFrequent(values: ReadonlyMap<string, number>): readonly Facet[] {
  return [...values]
    .sort(([one, more], [other, less]) => less - more || (one < other ? -1 : 1))
    .slice(0, MAX_VALUES)
    .map(([value, count]) => ({ value, count }));
}

export interface OverTime {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
  readonly denied: readonly number[];
}

export function overTime(rows: readonly Row[]): OverTime | undefined {
  const [first, last] = [rows[0]?.at_ms, rows.at(-1)?.at_ms];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [Math.min(first, last), Math.max(first, last) + 1];
  const counts = new Array<number>(STEPS).fill(0);
  const denied = new Array<number>(STEPS).fill(0);
  for (const row of rows) {
    const step = Math.min(STEPS - 1, Math.max(0, Math.floor((((row.at_ms ?? from) - from) / (to - from)) * STEPS)));
    counts[step] = (counts[step] ?? 0) + 1;
    if (row.decision === 'deny') denied[step] = (denied[step] ?? 0) + 1;
  }
  return { from, to, counts, denied };
}
