/** Pages of records and calls of one journal, newest first, with what was matched last kept for the next page. */
import type { CallPage, CallRow, RecordFilter, RecordPage, RecordRow } from '@tool-runtime/protocol';
import { type Row, rowTest } from '@tool-runtime/protocol/internal';
import { type Facet, facetsOf, type OverTime, overTime } from './count-rows.ts';
import type { RecordIndex } from './record-index.ts';
import type { CallDraft } from './record-rows.ts';

export interface PageOrder {
  readonly filter: RecordFilter;
  readonly offset: number;
  readonly limit: number;
  readonly head: number | undefined;
  readonly facets: boolean;
}

/** Filters whose matches are kept: a reader scrolls through one of them page by page. */
const KEPT = 16;

export interface PageReader {
  records(order: PageOrder): RecordPage;
  calls(order: PageOrder): CallPage;
  /** Every row that matches, oldest first. */
  matching(filter: RecordFilter): readonly RecordRow[];
}

interface Page<One> {
  readonly found: readonly One[];
  readonly total: number;
  readonly head: number;
  readonly facets?: Readonly<Record<string, readonly Facet[]>>;
  readonly over_time?: OverTime;
}

export function createPageReader(index: RecordIndex, workspace: string): PageReader {
  const records = createMatches<RecordRow>(() => ({ all: index.rows, generation: index.generation }));

  function page<One extends Row>(
    [all, upTo]: readonly [readonly One[], number],
    matching: readonly One[],
    order: PageOrder,
  ): Page<One> {
    const seqOf = (row: Row): number => row.seq ?? row.first_seq ?? 0;
    const head = order.head ?? upTo;
    let end = matching.length;
    while (end > 0 && seqOf(matching[end - 1] as One) > head) end -= 1;
    const from = Math.max(0, end - order.offset - order.limit);
    const found = matching.slice(from, Math.max(0, end - order.offset)).reverse();
    const within = end === matching.length ? matching : matching.slice(0, end);
    const shown = order.facets ? overTime(within) : undefined;
    return {
      found,
      total: end,
      head,
      ...(order.facets ? { facets: facetsOf(all, order.filter) } : {}),
      ...(shown === undefined ? {} : { over_time: shown }),
    };
  }

  return {
    records(order) {
      const { found, ...rest } = page([index.rows, index.rowsHead], records(order.filter), order);
      return { workspace, records: found, is_complete: index.isComplete, ...rest };
    },
    calls(order) {
      // Calls change after they came, so what matched before may not match now.
      const test = rowTest(order.filter);
      const { found, ...rest } = page([index.calls, index.head], index.calls.filter(test), order);
      return { workspace, calls: found.map(callRow), is_complete: index.isComplete, ...rest };
    },
    matching: (filter) => records(filter),
  };
}

export function callRow({ count: _, ...row }: CallDraft): CallRow {
  return row;
}

interface Source<One> {
  readonly all: readonly One[];
  readonly generation: number;
}

/** Rows that match a filter, oldest first. Rows never change, so what is kept is only extended. */
function createMatches<One extends Row>(source: () => Source<One>): (filter: RecordFilter) => readonly One[] {
  const kept = new Map<string, { found: One[]; upTo: number; generation: number }>();
  return (filter) => {
    const key = JSON.stringify(filter);
    const { all, generation } = source();
    const last = kept.get(key);
    const entry = last?.generation === generation ? last : { found: [], upTo: 0, generation };
    const test = rowTest(filter);
    for (; entry.upTo < all.length; entry.upTo += 1) {
      const row = all[entry.upTo] as One;
      if (test(row)) entry.found.push(row);
    }
    kept.delete(key);
    kept.set(key, entry);
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
    return entry.found;
  };
}
