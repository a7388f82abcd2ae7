/**
 * Everything that writes to the chain: one block at a time, alone where it must be, with a checkpoint now and then.
 *
 * A checkpoint lists the calls that are open, so that a search for unfinished work need not go further back. To be right
 * with several writers it is written in a transaction that first takes in what others added: the list then holds at
 * exactly the place where it is. Each process counts only its own records towards the next one, so n processes
 * write up to n times as many, which costs a row and harms nothing.
 */
import type { Clock } from '../../contracts/clock.ts';
import { failure } from '../../contracts/failures.ts';
import type { CheckpointRecord, JournalRecord } from '../../contracts/journal.ts';
import { type BlockLog, type PreparedRecords, prepareRecords } from './block-log.ts';
import type { HeadKeeper } from './head-keeper.ts';
import type { JournalTables } from './journal-tables.ts';
import { isBusy } from './sqlite-failure.ts';

export interface BlockWriterOptions {
  readonly clock: Clock;
  /** Own records between two checkpoints. */
  readonly checkpointEvery: number;
  /** Brings what is written to the disk, and says how far it is. */
  readonly keeper?: HeadKeeper | undefined;
}

export interface BlockWriter {
  readonly inTransaction: boolean;
  write(prepared: PreparedRecords): void;
  /** Runs `work` as the only writer; a throw undoes what it wrote. Inside another such work it simply joins in. */
  exclusively<T>(work: () => T): T;
  /** Writes the records and a checkpoint behind them, as one block. Call as the only writer. */
  writeWithCheckpoint(records: readonly JournalRecord[]): void;
  /** Call when nothing else is under way. Never throws. */
  checkpointIfDue(): void;
  /** Unless nothing was written since the last one. Never throws. */
  checkpointAtEnd(): void;
  /** Whose checkpoints these are. */
  sign(instanceId: string): void;
}

const OPTIMISTIC_TRIES = 3;

export function createBlockWriter(tables: JournalTables, log: BlockLog, options: BlockWriterOptions): BlockWriter {
  const { clock, checkpointEvery, keeper } = options;
  let inTransaction = false;
  let sinceCheckpoint = 0;
  let instance = '';

  /** Other processes may be faster a few times; then the write lock is taken first. */
  function write(prepared: PreparedRecords): void {
    if (prepared.records.length === 0) return;
    keeper?.before(log);
    let tries = OPTIMISTIC_TRIES;
    while (!log.tryWrite(prepared)) {
      if (--tries > 0) continue;
      if (inTransaction) throw failure('journal_failure', 'repair_needed', 'Journal is damaged: records overlap');
      exclusively(() => write(prepared));
      return;
    }
    sinceCheckpoint += prepared.records.length;
    keeper?.after();
  }

  function exclusively<T>(work: () => T): T {
    if (inTransaction) return work();
    const { head } = log;
    let hasBegun = false;
    inTransaction = true;
    try {
      return tables.transaction(() => {
        hasBegun = true;
        return work();
      });
    } catch (thrown) {
      if (hasBegun) log.rewind(head);
      throw thrown;
    } finally {
      inTransaction = false;
    }
  }

  function writeWithCheckpoint(records: readonly JournalRecord[]): void {
    const { intents } = log.openCalls();
    keeper?.before(log);
    const markedBy = keeper?.markName;
    const record: CheckpointRecord = {
      kind: 'checkpoint',
      at_ms: clock.now(),
      open: [...intents.keys()],
      open_seq: [...intents.values()],
      instance,
      ...(markedBy === undefined ? {} : { marked_by: markedBy }),
    };
    write(prepareRecords([...records, record]));
    tables.markCheckpoint(log.head.seq);
    sinceCheckpoint = 0;
  }

  function tryCheckpoint(): void {
    try {
      exclusively(() => writeWithCheckpoint([]));
    } catch (thrown) {
      // The records before it are stored and acknowledged; without a checkpoint the next scan only takes longer.
      if (isBusy(thrown)) return;
    }
    sinceCheckpoint = 0;
  }

  return {
    get inTransaction() {
      return inTransaction;
    },
    write,
    exclusively,
    writeWithCheckpoint,
    checkpointIfDue() {
      if (sinceCheckpoint >= checkpointEvery && !inTransaction) tryCheckpoint();
    },
    checkpointAtEnd() {
      if (sinceCheckpoint > 0) tryCheckpoint();
    },
    sign(instanceId) {
      instance = instanceId;
    },
  };
}
