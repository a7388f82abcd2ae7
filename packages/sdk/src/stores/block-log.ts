/**
 * Writes and reads the chain of blocks, and keeps up with other processes that write to the same one.
 *
 * Appending is optimistic: a block is sealed onto the head this process remembers. If another process has been faster,
 * its block already holds that `first_seq`; then the head is read again and the block sealed anew. The remembered head
 * may be old but is never wrong, so falling back to an older one (after an undone transaction) is always safe.
 */
import type { Clock } from '../contracts/clock.ts';
import { failure } from '../contracts/failures.ts';
import type { ChainHead, JournalRecord, ReadFilter, StoredIntent, StoredRecord } from '../contracts/journal.ts';
import { GENESIS, recordsOf, type Seal } from './block-chain.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';
import { createOpenCalls, type OpenCalls } from './open-calls.ts';

const PAGE_ROWS = 128;

/** Records turned into text already, so that one that cannot be written fails its own caller and no one else. */
export interface PreparedRecords {
  body: string;
  readonly records: JournalRecord[];
}

export interface BlockLog {
  /** Writes one block. False when another process took the place; the head has been read again by then. */
  tryWrite(prepared: PreparedRecords): boolean;
  /** The head as stored now; the records other processes added are taken note of. */
  catchUp(): ChainHead;
  /** Forgets blocks written since `head` was the head. */
  rewind(head: ChainHead): void;
  readonly head: ChainHead;
  openCalls(): OpenCalls;
  unfinished(): readonly StoredIntent[];
  read(filter: ReadFilter): Generator<StoredRecord>;
  rows(): Generator<BlockRow>;
}

export function createBlockLog(tables: JournalTables, seal: Seal, clock: Clock): BlockLog {
  let head = GENESIS;
  let openCalls: OpenCalls | undefined;

  function catchUp(): ChainHead {
    const last = tables.lastBlock();
    const stored = last === undefined ? GENESIS : { seq: last.first_seq + last.count - 1, mac: last.mac };
    if (stored.mac !== head.mac) {
      if (openCalls !== undefined) applyAfter(openCalls, head.seq);
      head = stored;
    }
    return head;
  }

  function applyAfter(calls: OpenCalls, seq: number): void {
    for (const record of readRecords(tables, { after: seq })) calls.apply(record, record.seq);
  }

  function tracked(): OpenCalls {
    if (openCalls === undefined) {
      const checkpoint = newestCheckpoint(tables);
      openCalls = createOpenCalls(checkpoint);
      catchUp();
      applyAfter(openCalls, checkpoint?.seq ?? 0);
    } else catchUp();
    return openCalls;
  }

  return {
    get head() {
      return head;
    },
    catchUp,
    rewind(to) {
      head = to;
      // What the undone blocks said of open calls cannot be taken back one by one; the next question scans again.
      openCalls = undefined;
    },
    tryWrite({ body, records }) {
      const block = { first_seq: head.seq + 1, count: records.length, at_ms: clock.now(), body };
      const mac = seal(head.mac, block);
      if (!tables.insertBlock({ ...block, mac })) {
        catchUp();
        return false;
      }
      head = { seq: head.seq + records.length, mac };
      if (openCalls !== undefined) applyAll(openCalls, records, block.first_seq);
      return true;
    },
    openCalls: tracked,
    unfinished: () => intentsOf(tables, tracked()),
    read: (filter) => readRecords(tables, filter),
    rows: () => rowsOf(tables),
  };
}

export function prepareRecords(records: readonly JournalRecord[]): PreparedRecords {
  let body = '';
  for (const record of records) body += body === '' ? JSON.stringify(record) : `\n${JSON.stringify(record)}`;
  return { body, records: [...records] };
}

function applyAll(calls: OpenCalls, records: readonly JournalRecord[], firstSeq: number): void {
  for (let at = 0; at < records.length; at++) calls.apply(records[at] as JournalRecord, firstSeq + at);
}

/** The mark lies outside the chain, so it is believed only when a checkpoint really stands there. */
function newestCheckpoint(tables: JournalTables): (StoredRecord & { readonly kind: 'checkpoint' }) | undefined {
  const seq = tables.checkpointSeq();
  const found = seq > 0 ? recordAt(tables, seq) : undefined;
  return found?.kind === 'checkpoint' ? found : undefined;
}

function intentsOf(tables: JournalTables, calls: OpenCalls): readonly StoredIntent[] {
  const intents: StoredIntent[] = [];
  for (const [callId, seq] of calls.intents) {
    const record = recordAt(tables, seq);
    if (record?.kind !== 'intent' || record.call_id !== callId) throw damaged(seq, 'an intent is not where it was');
    intents.push(record);
  }
  return intents;
}

function recordAt(tables: JournalTables, seq: number): StoredRecord | undefined {
  for (const record of readRecords(tables, { after: seq - 1, limit: 1 }))
    return record.seq === seq ? record : undefined;
  return undefined;
}

function* readRecords(tables: JournalTables, filter: ReadFilter): Generator<StoredRecord> {
  const { after = 0, limit = Number.POSITIVE_INFINITY } = filter;
  const marks = [filter.sessionId, filter.callId, filter.kind].flatMap((value) =>
    value === undefined ? [] : [JSON.stringify(value)],
  );
  let left = limit;
  let cursor = (tables.blockAt(after + 1)?.first_seq ?? 1) - 1;
  while (left > 0) {
    const page = tables.blocksAfter(cursor, Math.min(PAGE_ROWS, left));
    for (const row of page) {
      cursor = row.first_seq;
      // Parsing is the cost of a search; a block that never mentions what is sought is not parsed.
      if (!marks.every((mark) => row.body.includes(mark))) continue;
      for (const record of storedRecords(row)) {
        if (record.seq <= after || !matches(record, filter)) continue;
        yield record;
        if (--left <= 0) return;
      }
    }
    if (page.length === 0) return;
  }
}

function storedRecords(row: BlockRow): readonly StoredRecord[] {
  try {
    return Array.from(recordsOf(row), (record, at) => Object.assign(record, { seq: row.first_seq + at }));
  } catch (cause) {
    throw damaged(row.first_seq, 'a block cannot be read', cause);
  }
}

function matches(record: StoredRecord, filter: ReadFilter): boolean {
  const { kind, sessionId, callId } = filter;
  if (kind !== undefined && record.kind !== kind) return false;
  if (sessionId !== undefined && !('session_id' in record && record.session_id === sessionId)) return false;
  return callId === undefined || ('call_id' in record && record.call_id === callId);
}

/** Every row, also those whose numbers make no sense. Falls back to single rows so that one bad row hides no good one. */
function* rowsOf(tables: JournalTables): Generator<BlockRow> {
  let cursor = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = pageAfter(tables, cursor);
    for (const row of page) {
      yield row;
      cursor = row.first_seq;
    }
    if (page.length === 0) return;
  }
}

function pageAfter(tables: JournalTables, cursor: number): readonly BlockRow[] {
  try {
    return tables.blocksAfter(cursor, PAGE_ROWS);
  } catch {
    // Somewhere in this page stands a row that cannot be read; alone, the first one tells whether it is this one.
    return tables.blocksAfter(cursor, 1);
  }
}

function damaged(seq: number, reason: string, cause?: unknown): Error {
  return failure('journal_failure', 'repair_needed', `Journal is damaged: record ${seq}`, {
    details: { seq, reason, next: 'run verify; restore the state folder or start a new one' },
    cause,
  });
}
