/** Which rows of the journal a reader wants. One test for the host and for pages that are told of new rows. */
import type { CallRow, RecordFilter, RecordRow } from './records.ts';

export type Row = Partial<RecordRow> & Partial<Omit<CallRow, 'call_id' | 'session_id'>>;

export const ROW_FIELDS = {
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

export type RowField = keyof typeof ROW_FIELDS;
const NAMES = Object.keys(ROW_FIELDS) as RowField[];

export type RowTest = (row: Row) => boolean;

/** `without`: a field whose own choice does not count, so that its facet shows the others too. */
export function rowTest(filter: RecordFilter, without?: RowField): RowTest {
  const wanted = NAMES.flatMap((name) => {
    const value = name === without ? undefined : filter[name];
    return value === undefined || value === '' ? [] : [{ read: ROW_FIELDS[name], values: new Set(value.split(',')) }];
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
