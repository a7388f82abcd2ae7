/** The journal on top of any tables: conducts group commit, key claims, checkpoints and reading. */
import type { Clock } from '../contracts/clock.ts';
import { failure } from '../contracts/failures.ts';
import type { JournalRecord, JournalStore } from '../contracts/journal.ts';
import { createKeyedDigest } from '../journal/keyed-digest.ts';
import type { ArchiveFiles } from '../platform/archive-files.ts';
import { archivedBlocks } from './archive-blocks.ts';
import { createArchiveSeal, undisturbed } from './archive-rows.ts';
import { createSeal } from './block-chain.ts';
import { createBlockLog, type PreparedRecords, prepareRecords } from './block-log.ts';
import { type BlockWriter, type BlockWriterOptions, createBlockWriter } from './block-writer.ts';
import { createGroupCommit } from './group-commit.ts';
import { createInstanceRows } from './instance-rows.ts';
import type { JournalTables } from './journal-tables.ts';
import { claimKey, keyState, pendingClaims, releaseKey, settleKey } from './key-claims.ts';
import { createKeyLedger, type KeyLedger } from './key-ledger.ts';
import { pruneJournal } from './prune-journal.ts';
import { rotateJournal } from './rotate-journal.ts';
import { sealLegacy } from './seal-legacy.ts';
import { verifyJournal } from './verify-journal.ts';

export interface BlockJournalOptions extends BlockWriterOptions {
  readonly masterKey: Uint8Array;
  readonly archives: ArchiveFiles;
  /** Characters of records in one archive. */
  readonly maxArchiveLength?: number | undefined;
}

export function createBlockJournal(tables: JournalTables, options: BlockJournalOptions): JournalStore {
  const { clock, archives: files } = options;
  const source = { tables, archived: (from: number) => archivedBlocks(tables, files, from) };
  const seals = createSeals(tables, options.masterKey);
  const { keys, instances } = seals;
  const log = createBlockLog({ ...seals, source, clock });
  const writer = createBlockWriter(tables, log, options);
  const queue = createGroupCommit((prepared) => {
    writer.write(prepared);
    writer.checkpointIfDue();
  });
  let closed = false;
  let upkeep: Promise<void> = Promise.resolve();
  const { maxArchiveLength } = options;
  const parts = { ...seals, tables, files, log, writer, clock, maxArchiveLength, isClosed: () => closed };
  sealLegacy(parts);

  function assertOpen(): void {
    if (closed) throw failure('journal_failure', 'not_retryable', 'Journal is closed');
  }

  /** What is asked after an append, awaited or not, sees that append. */
  function afterQueue<T>(work: () => T): T {
    assertOpen();
    queue.flush();
    return work();
  }

  function change<T>(work: () => T): T {
    const isOutermost = !writer.inTransaction;
    const result = afterQueue(() =>
      writer.exclusively(() => {
        const done = work();
        // Claims may change without a record; the total then comes with a checkpoint.
        if (isOutermost && keys.isOwed) writer.writeWithCheckpoint([]);
        return done;
      }),
    );
    writer.checkpointIfDue();
    return result;
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

  return {
    append(records) {
      assertOpen();
      const prepared = prepare(records);
      if (prepared.records.length > 0 && !writer.inTransaction) return queue.add(prepared);
      return writer.write(prepared);
    },
    ...keyMethods({ keys, writer, clock, change, afterQueue, assertOpen }),
    unfinished: () => afterQueue(() => log.unfinished()),
    atomically: change,
    read: (filter = {}) => afterQueue(() => log.read(filter)),
    head: () => afterQueue(() => log.catchUp()),
    verify: (anchor, checks) =>
      afterQueue(() => undisturbed(tables, () => verifyJournal({ ...parts, rows: () => log.rows() }, anchor, checks))),
    rotate: async (cut) => inTurn(() => rotateJournal(parts, cut)),
    prune: async (limits) => inTurn(() => pruneJournal(parts, limits)),
    enroll(instance) {
      afterQueue(() => instances.enroll(instance));
      writer.sign(instance.id);
    },
    instances: () => afterQueue(() => instances.live()),
    findInstance: (id) => afterQueue(() => instances.find(id)),
    retire: (id) => afterQueue(() => instances.retire(id, clock.now())),
    close() {
      if (closed) return upkeep;
      queue.flush();
      writer.checkpointAtEnd();
      closed = true;
      tables.close();
      return upkeep;
    },
  };
}

interface KeyPorts {
  readonly keys: KeyLedger;
  readonly writer: BlockWriter;
  readonly clock: Clock;
  change<T>(work: () => T): T;
  afterQueue<T>(work: () => T): T;
  assertOpen(): void;
}

type KeyMethods = Pick<JournalStore, 'claim' | 'lookup' | 'settle' | 'release' | 'claimsOf'>;

function keyMethods({ keys, writer, clock, change, afterQueue, assertOpen }: KeyPorts): KeyMethods {
  return {
    claim(claim, records) {
      const prepared = prepare(records);
      return change(() => {
        const state = claimKey(keys, claim);
        if (state.state === 'new') writer.write(prepared);
        return state;
      });
    },
    lookup(scope, key, argsHash) {
      assertOpen();
      return keyState(keys.find(scope, key), argsHash);
    },
    settle(scope, key, answer, records) {
      const prepared = prepare(records);
      const text = JSON.stringify(answer);
      change(() => {
        settleKey(keys, { scope, key, answer: text, atMs: clock.now() });
        writer.write(prepared);
      });
    },
    release(scope, key, records) {
      const prepared = prepare(records);
      change(() => {
        releaseKey(keys, scope, key);
        writer.write(prepared);
      });
    },
    claimsOf: (callId) => afterQueue(() => pendingClaims(keys, callId)),
  };
}

function nothing(): void {}

/** All that needs the key. */
export function createSeals(tables: JournalTables, masterKey: Uint8Array) {
  return {
    seal: createSeal(masterKey),
    sealArchive: createArchiveSeal(masterKey),
    keys: createKeyLedger(tables, masterKey),
    instances: createInstanceRows(tables, masterKey),
    birth: birthMark(masterKey),
  };
}

/** What a journal holds that never held a record: gone with its first block, and not to be made without the key. */
export function birthMark(masterKey: Uint8Array): string {
  return createKeyedDigest(masterKey, 'tool-runtime journal birth v1')('no record yet');
}

function prepare(records: readonly JournalRecord[]): PreparedRecords {
  try {
    return prepareRecords(records);
  } catch (cause) {
    throw failure('journal_failure', 'repair_needed', 'Record has no JSON form', { cause });
  }
}
