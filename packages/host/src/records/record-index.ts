/**
 * The records of one journal at hand, as rows: filtered, counted and paged without reading the journal again.
 *
 * Made for the first reader and then only extended. Reading goes in slices, so that calls are not held up, and what is kept is
 * bounded: beyond the limit the oldest rows go first, and pages say so.
 */
import { setImmediate } from 'node:timers/promises';
import type { RecordRow } from '@tool-runtime/protocol';
import type { Runtime, StoredRecord } from '@tool-runtime/sdk';
import { createFamilyBook, type FamilyBook } from './families.ts';
import { type CallDraft, noteCall, rowOf } from './record-rows.ts';

const SLICE = 1000;
const MAX_ROWS = 300_000;
/** By so much it may grow beyond the limit: moving an array's front is not for every record. */
const SLACK = 1.1;

export interface RecordIndex {
  readonly rows: readonly RecordRow[];
  readonly calls: readonly CallDraft[];
  readonly families: FamilyBook;
  /** Changes when rows were dropped from the front: positions mean others from then on. */
  readonly generation: number;
  readonly head: number;
  readonly isComplete: boolean;
  call(id: string): CallDraft | undefined;
  /** Resolves when everything that was in the journal at the call is here. */
  catchUp(): Promise<void>;
}

export interface RecordIndexOptions {
  /** Asked for each time: a host opens runtimes anew when their registry changes. */
  readonly runtime: () => Pick<Runtime, 'records' | 'head'>;
  readonly archived: boolean;
  readonly maxRows?: number;
}

export function createRecordIndex({ runtime, archived, maxRows = MAX_ROWS }: RecordIndexOptions): RecordIndex {
  let rows: RecordRow[] = [];
  let calls: CallDraft[] = [];
  const byId = new Map<string, CallDraft>();
  const families = createFamilyBook();
  let [head, generation] = [0, 0];
  let reading: Promise<void> | undefined;

  function take(record: StoredRecord): void {
    head = record.seq;
    families.note(record);
    const id = 'call_id' in record ? record.call_id : undefined;
    const call = id === undefined ? undefined : noteCall(record, byId.get(id));
    if (call !== undefined && record.kind === 'requested') {
      byId.set(call.call_id, call);
      calls.push(call);
    }
    rows.push(rowOf(record, call));
  }

  function drop(): void {
    if (rows.length <= maxRows * SLACK) return;
    rows = rows.slice(rows.length - maxRows);
    const oldest = rows[0]?.seq ?? 0;
    for (const call of calls) if (call.last_seq < oldest) byId.delete(call.call_id);
    calls = calls.filter((call) => call.last_seq >= oldest);
    generation += 1;
  }

  async function read(): Promise<void> {
    const goal = runtime().head().seq;
    while (head < goal) {
      let count = 0;
      for (const record of runtime().records({ after: head, limit: SLICE, archived })) {
        take(record);
        count += 1;
      }
      drop();
      if (count === 0) return;
      if (head < goal) await setImmediate();
    }
  }

  return {
    get rows() {
      return rows;
    },
    get calls() {
      return calls;
    },
    get head() {
      return head;
    },
    get generation() {
      return generation;
    },
    get isComplete() {
      return generation === 0;
    },
    families,
    call: (id) => byId.get(id),
    async catchUp() {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
  };
}
