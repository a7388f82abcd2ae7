/**
 * The calls and records of one journal at hand, as rows: filtered, counted and paged without reading the journal again.
 *
 * Made for the first reader and then only extended: calls for those who look at calls, and rows of records, which are most of
 * the work, when someone wants records. Reading goes in slices, so that calls are not held up, and what is kept is bounded:
 * beyond the limit the oldest go first, and pages say so.
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
  /** Of the calls. */
  readonly head: number;
  readonly rowsHead: number;
  readonly isComplete: boolean;
  call(id: string): CallDraft | undefined;
  /** Resolves when the calls and families of everything that was in the journal are here. */
  catchUp(): Promise<void>;
  /** Resolves when its records are here too. */
  catchUpRows(): Promise<void>;
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
  let [head, rowsHead, oldest, taken, generation] = [0, 0, 0, 0, 0];
  let reading: Promise<void> | undefined;
  let readingRows: Promise<void> | undefined;

  function takeCall(record: StoredRecord): void {
    head = record.seq;
    taken += 1;
    families.note(record);
    const id = 'call_id' in record ? record.call_id : undefined;
    const call = id === undefined ? undefined : noteCall(record, byId.get(id));
    if (call === undefined || record.kind !== 'requested') return;
    byId.set(call.call_id, call);
    calls.push(call);
  }

  function takeRow(record: StoredRecord): void {
    rowsHead = record.seq;
    const id = 'call_id' in record ? record.call_id : undefined;
    rows.push(rowOf(record, id === undefined ? undefined : byId.get(id)));
  }

  function drop(): void {
    if (taken <= maxRows * SLACK) return;
    taken = maxRows;
    oldest = head - maxRows + 1;
    rows = rows.filter(({ seq }) => seq >= oldest);
    for (const call of calls) if (call.last_seq < oldest) byId.delete(call.call_id);
    calls = calls.filter((call) => call.last_seq >= oldest);
    generation += 1;
  }

  async function readCalls(): Promise<void> {
    const goal = runtime().head().seq;
    while (head < goal) {
      const before = head;
      for (const record of runtime().records({ after: before, limit: SLICE, archived })) takeCall(record);
      drop();
      if (head === before) return;
      if (head < goal) await setImmediate();
    }
  }

  /** Never beyond the calls, whose tools the rows name. */
  async function readRows(): Promise<void> {
    const goal = head;
    while (rowsHead < goal) {
      const after = Math.max(rowsHead, oldest - 1);
      const limit = Math.min(SLICE, goal - after);
      rowsHead = after;
      for (const record of runtime().records({ after, limit, archived })) takeRow(record);
      if (rowsHead === after) return;
      if (rowsHead < goal) await setImmediate();
    }
  }

  async function catchUp(): Promise<void> {
    reading ??= readCalls().finally(() => {
      reading = undefined;
    });
    await reading;
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
    get rowsHead() {
      return rowsHead;
    },
    get generation() {
      return generation;
    },
    get isComplete() {
      return generation === 0;
    },
    families,
    call: (id) => byId.get(id),
    catchUp,
    async catchUpRows() {
      await catchUp();
      readingRows ??= readRows().finally(() => {
        readingRows = undefined;
      });
      await readingRows;
    },
  };
}
