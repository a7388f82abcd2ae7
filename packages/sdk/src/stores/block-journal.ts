/** The journal on top of any tables: conducts group commit, key claims, checkpoints and reading. */
import { failure } from '../contracts/failures.ts';
import type { JournalRecord, JournalStore } from '../contracts/journal.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import type { ArchiveFiles } from '../platform/archive-files.ts';
import { archivedBlocks } from './archive-blocks.ts';
import { createArchiveSeal } from './archive-rows.ts';
import { createSeal } from './block-chain.ts';
import { createBlockLog, type PreparedRecords, prepareRecords } from './block-log.ts';
import { type BlockWriterOptions, createBlockWriter } from './block-writer.ts';
import { createHeadChecks, type Heads } from './heads.ts';
import type { JournalTables } from './journal-tables.ts';
import { claimKey, keyState, pendingClaims, releaseKey, settleKey } from './key-claims.ts';
import { pruneJournal } from './prune-journal.ts';
import { rotateJournal } from './rotate-journal.ts';
import { verifyJournal } from './verify-journal.ts';
import { type WriteOptions, WriteQueue } from './write-queue.ts';

export interface BlockJournalOptions extends BlockWriterOptions {
  readonly masterKey: Uint8Array;
  readonly archives: ArchiveFiles;
  /** Marks of what is on the disk, where the journal is on one. */
  readonly heads?: Heads | undefined;
  /** Characters of records in one archive. */
  readonly maxArchiveLength?: number | undefined;
  /** How long writes wait for another process that is writing. */
  readonly busyLimitMs?: number | undefined;
}

const BUSY_LIMIT_MS = 5_000;
const KEPT = { isKept: true };

export function createBlockJournal(tables: JournalTables, options: BlockJournalOptions): JournalStore {
  const seal = createSeal(options.masterKey);
  const { clock, archives: files, maxArchiveLength } = options;
  const source = { tables, archived: (from: number) => archivedBlocks(tables, files, from) };
  const log = createBlockLog({ source, seal, clock });
  const writer = createBlockWriter(tables, log, { ...options, keeper: options.heads?.keeper });
  const marks = createHeadChecks(options.heads, { tables, log, writer, clock });
  const queue = new WriteQueue(writer, options.busyLimitMs ?? BUSY_LIMIT_MS);
  let closed = false;
  let ended: MaybePromise<void>;
  let upkeep: Promise<void> = Promise.resolve();
  const sealArchive = createArchiveSeal(options.masterKey);
  const isClosed = () => closed;
  const parts = { tables, log, writer, change, files, seal, sealArchive, clock, maxArchiveLength, isClosed };

  function assertOpen(): void {
    if (closed) throw failure('journal_failure', 'not_retryable', 'Journal is closed');
  }

  /** What is asked after an append, awaited or not, sees that append; while another process writes, only once it is stored. */
  function afterQueue<T>(work: () => T): T {
    assertOpen();
    queue.flush();
    return work();
  }

  /** Runs `work` as the only writer, in turn. Inside such work it joins in. */
  function change<T>(work: () => T, options?: WriteOptions): MaybePromise<T> {
    assertOpen();
    return writer.inTransaction ? work() : queue.run(() => writer.exclusively(work), options);
  }

  /** One after the other: two rotations of one process would only get into each other's way. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    assertOpen();
    const turn = upkeep.then(() => {
      assertOpen();
      queue.flush();
      return work();
    });
    upkeep = turn.then(nothing, nothing);
    return turn;
  }

  function close(): MaybePromise<void> {
    closed = true;
    const closeTables = () => {
      writer.checkpointAtEnd();
      marks.close();
      return upkeep;
    };
    const idle = queue.end();
    return idle === undefined ? closeTables() : idle.then(closeTables);
  }

  return {
    append(records) {
      assertOpen();
      const prepared = prepare(records);
      if (prepared.records.length === 0 || writer.inTransaction) return writer.write(prepared);
      return queue.append(prepared, { isKept: records.some(({ kind }) => kind === 'result') });
    },
    claim(claim, records) {
      const prepared = prepare(records);
      return change(() => {
        const state = claimKey(tables, claim);
        if (state.state === 'new') writer.write(prepared);
        return state;
      });
    },
    lookup(scope, key, argsHash) {
      assertOpen();
      return keyState(tables.findKey(scope, key), argsHash);
    },
    settle(scope, key, answer, records) {
      const prepared = prepare(records);
      const text = JSON.stringify(answer);
      return change(() => {
        settleKey(tables, { scope, key, answer: text, atMs: clock.now() });
        writer.write(prepared);
      }, KEPT);
    },
    release(scope, key, records) {
      const prepared = prepare(records);
      return change(() => {
        releaseKey(tables, scope, key);
        writer.write(prepared);
      }, KEPT);
    },
    claimsOf: (callId) => afterQueue(() => pendingClaims(tables, callId)),
    unfinished: () => afterQueue(() => log.unfinished()),
    atomically: (work) => change(work),
    read: (filter = {}) => afterQueue(() => log.read(filter)),
    head: () => afterQueue(() => log.catchUp()),
    verify: (anchor, checks) =>
      afterQueue(() => marks.verify(() => verifyJournal({ ...parts, rows: () => log.rows() }, anchor, checks))),
    rotate: async (cut) => inTurn(() => rotateJournal(parts, cut)),
    prune: async (limits) => inTurn(() => pruneJournal(parts, limits)),
    reportHeads: () => change(marks.report),
    enroll(instance) {
      writer.sign(instance.id);
      return change(() => tables.enroll(instance));
    },
    instances: () => afterQueue(() => tables.instances()),
    retire: (id) => change(() => tables.retire(id, clock.now())),
    close() {
      if (!closed) ended = close();
      return ended;
    },
  };
}

function nothing(): void {}

function prepare(records: readonly JournalRecord[]): PreparedRecords {
  try {
    return prepareRecords(records);
  } catch (cause) {
    throw failure('journal_failure', 'repair_needed', 'Record has no JSON form', { cause });
  }
}
