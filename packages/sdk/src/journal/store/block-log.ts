/**
 * Writes and reads the chain of blocks, and keeps up with other processes that write to the same one.
 *
 * Appending is optimistic: a block is sealed onto the head this process remembers. If another process has been faster,
 * its block already holds that `first_seq`; then the head is read again and the block sealed anew. The remembered head
 * may be old but is never wrong, so falling back to an older one (after an undone transaction) is always safe.
 *
 * Another process may also move blocks into an archive before they were seen here. None of them holds the intent of an
 * open call, so a scan of what is left finds every open call; but one that was begun before must begin again.
 */
import type { Clock } from '../../contracts/clock.ts';
import type {
  ChainHead,
  CheckpointRecord,
  JournalRecord,
  ReadFilter,
  StoredIntent,
  StoredRecord,
} from '../../contracts/journal.ts';
import { baseSeq, endOf, undisturbed } from './archive-rows.ts';
import { bodyOf, type Seal } from './block-body.ts';
import { GENESIS } from './block-chain.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';
import { type BlockSource, PAGE_ROWS, readRecords, recordAt } from './read-records.ts';
import { damaged } from './sqlite-failure.ts';

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

interface BlockLogOptions {
  readonly source: BlockSource;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly keys: KeyLedger;
  /** The mark of a journal that never held a record. */
  readonly birth: string;
}

export function createBlockLog({ source, seal, clock, keys, birth }: BlockLogOptions): BlockLog {
  const { tables } = source;
  let head = GENESIS;
  let openCalls: OpenCalls | undefined;

  function catchUp(): ChainHead {
    const last = tables.lastBlock();
    const stored =
      last === undefined ? endOf(tables.lastArchive()) : { seq: last.first_seq + last.count - 1, mac: last.mac };
    if (stored.mac !== head.mac) {
      if (openCalls !== undefined) openCalls = followed(openCalls);
      head = stored;
    }
    return head;
  }

  /** Undefined when some of what was to be taken note of has been archived already: the next question scans again. */
  function followed(calls: OpenCalls): OpenCalls | undefined {
    applyAfter(calls, head.seq);
    return baseSeq(tables) > head.seq ? undefined : calls;
  }

  function applyAfter(calls: OpenCalls, seq: number): void {
    for (const record of readRecords(source, { after: seq })) calls.apply(record, record.seq);
  }

  function tracked(): OpenCalls {
    catchUp();
    openCalls ??= undisturbed(tables, scan);
    return openCalls;
  }

  function scan(): OpenCalls {
    const checkpoint = newestCheckpoint(source);
    const calls = createOpenCalls(checkpoint);
    applyAfter(calls, checkpoint?.seq ?? 0);
    return calls;
  }

  return {
    get head() {
      return head;
    },
    catchUp,
    rewind(to) {
      head = to;
      keys.settled();
      // What the undone blocks said of open calls cannot be taken back one by one; the next question scans again.
      openCalls = undefined;
    },
    tryWrite({ body, records }) {
      const { isOwed } = keys;
      if (head.seq === 0) {
        if (tables.lastBlock() === undefined && tables.birth() !== birth) throw damaged(1, 'the journal was emptied');
        // The first block always carries a total: a chain without one is of a version that sealed no claims.
        if (!isOwed) keys.carry();
      }
      const block = {
        first_seq: head.seq + 1,
        count: records.length,
        at_ms: clock.now(),
        claims: keys.owed() ?? null,
        body,
      };
      const mac = seal(head.mac, block);
      if (!tables.insertBlock({ ...block, mac })) {
        if (!isOwed) keys.settled();
        catchUp();
        return false;
      }
      head = { seq: head.seq + records.length, mac };
      keys.settled();
      if (openCalls !== undefined) applyAll(openCalls, records, block.first_seq);
      return true;
    },
    openCalls: tracked,
    unfinished: () => undisturbed(tables, () => intentsOf(source, tracked())),
    read: (filter) => readRecords(source, filter),
    rows: () => rowsOf(tables),
  };
}

export function prepareRecords(records: readonly JournalRecord[]): PreparedRecords {
  return { body: bodyOf(records), records: [...records] };
}

function applyAll(calls: OpenCalls, records: readonly JournalRecord[], firstSeq: number): void {
  for (let at = 0; at < records.length; at++) calls.apply(records[at] as JournalRecord, firstSeq + at);
}

/** The mark lies outside the chain, so it is believed only when a checkpoint really is there. */
function newestCheckpoint(source: BlockSource): (StoredRecord & { readonly kind: 'checkpoint' }) | undefined {
  const seq = source.tables.checkpointSeq();
  const found = seq > 0 ? recordAt(source, seq) : undefined;
  return found?.kind === 'checkpoint' ? found : undefined;
}

function intentsOf(source: BlockSource, calls: OpenCalls): readonly StoredIntent[] {
  const intents: StoredIntent[] = [];
  for (const [callId, seq] of calls.intents) {
    const record = recordAt(source, seq);
    if (record?.kind !== 'intent' || record.call_id !== callId) throw damaged(seq, 'an intent is not where it was');
    intents.push(record);
  }
  return intents;
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

interface OpenCalls {
  apply(record: JournalRecord, seq: number): void;
  /** Call id → seq of its intent, oldest first. */
  readonly intents: ReadonlyMap<string, number>;
}

/**
 * Which calls have an intent and nothing that ends it, kept up to date as records go by. Applying records again, from
 * any point up to the same end, gives the same answer: the last record of a call wins. Callers rely on that when they
 * read some twice.
 */
function createOpenCalls(from?: CheckpointRecord): OpenCalls {
  const intents = new Map<string, number>();
  from?.open.forEach((callId, at) => {
    intents.set(callId, from.open_seq[at] ?? 0);
  });
  return {
    intents,
    apply(record, seq) {
      if (record.kind === 'intent') intents.set(record.call_id, seq);
      else if (endsCall(record)) intents.delete(record.call_id);
    },
  };
}

/** A recovery of any class has been dealt with or is a person's to deal with; no later scan should find it again. */
function endsCall(record: JournalRecord): record is JournalRecord & { readonly call_id: string } {
  if (record.kind === 'result') return true;
  if (record.kind === 'decision') return record.outcome === 'deny';
  return record.kind === 'recovery' && record.call_id !== undefined;
}
