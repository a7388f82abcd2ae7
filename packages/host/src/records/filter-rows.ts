/** Which rows a reader wants, and how many of each kind there are. */
import type { CallRow, RecordFilter, RecordRow } from '@tool-runtime/protocol';

export type Row = Partial<RecordRow> & Partial<Omit<CallRow, 'call_id' | 'session_id'>>;

const FIELDS = {
  kind: (row: Row) => row.kind,
  tool: (row: Row) => row.tool,
  decision: (row: Row) => row.decision,
  status: (row: Row) => row.status,
  rule: (row: Row) => row.rule ?? (row.decision === 'allow' ? undefined : row.gate),
  code: (row: Row) => row.code,
  session: (row: Row) => row.session_id,
  client: (row: Row) => row.client,
  call: (row: Row) => row.call_id,
} as const;

type Field = keyof typeof FIELDS;
const NAMES = Object.keys(FIELDS) as Field[];
/** A facet of ids would only repeat the list. */
const FACETS = NAMES.filter((name) => name !== 'call');
const MAX_VALUES = 12;
const STEPS = 60;

export type RowTest = (row: Row) => boolean;

/** `without`: a field whose own choice does not count, so that its facet shows the others too. */
export function testOf(filter: RecordFilter, without?: Field): RowTest {
  const wanted = NAMES.flatMap((name) => {
    const value = name === without ? undefined : filter[name];
    return value === undefined || value === '' ? [] : [{ read: FIELDS[name], values: new Set(value.split(',')) }];
  });
  const { from = 0, to = Number.POSITIVE_INFINITY } = filter;
  const text = filter.text?.toLowerCase();
  return (row) => {
    const at = row.at_ms ?? 0;
    if (at < from || at > to) return false;
    for (const { read, values } of wanted) {
      const value = read(row);
      if (value === undefined || !values.has(value)) return false;
    }
    return text === undefined || text === '' || textOf(row).includes(text);
  };
}

function textOf({ text, summary, message, tool, rule, code, session_id, call_id, client, word }: Row): string {
  return [text, summary, message, tool, rule, code, session_id, call_id, client, word].join('\n').toLowerCase();
}

export interface Facet {
  readonly value: string;
  readonly count: number;
}

/** The most frequent values of each field among the rows that the rest of the filter lets through. */
export function facetsOf(rows: readonly Row[], filter: RecordFilter): Readonly<Record<string, readonly Facet[]>> {
  const all = testOf(filter);
  const counts = new Map<Field, Map<string, number>>(FACETS.map((name) => [name, new Map()]));
  const open = FACETS.filter((name) => filter[name] !== undefined && filter[name] !== '');
  const others = new Map(open.map((name) => [name, testOf(filter, name)]));
  for (const row of rows) {
    const passes = all(row);
    for (const name of FACETS) {
      if (!(others.get(name)?.(row) ?? passes)) continue;
      const value = FIELDS[name](row);
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
