/** The journal on top of any tables: conducts group commit, key claims, checkpoints and reading. */
import type { Clock } from '../../contracts/clock.ts';
import { failure } from '../../contracts/failures.ts';
import type { JournalRecord, JournalStore, KeyState } from '../../contracts/journal.ts';
import type { RotationRecord } from '../../contracts/journal-rotation.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import type { ArchiveFiles } from '../../platform/state/archive-files.ts';
import { archivedBlocks } from './archive-blocks.ts';
import { createArchiveSeal } from './archive-rows.ts';
import { createSeal } from './block-body.ts';
import { createBlockLog, type PreparedRecords, prepareRecords } from './block-log.ts';
import { type BlockWriter, type BlockWriterOptions, createBlockWriter } from './block-writer.ts';
import { createHeadChecks, type Heads } from './heads.ts';
import { createInstanceRows, type InstanceRows } from './instance-rows.ts';
import type { JournalTables } from './journal-tables.ts';
import { claimKey, keyState, pendingClaims, releaseKey, settleKey } from './key-claims.ts';
import { createKeyLedger, type KeyLedger } from './key-ledger.ts';
import { pruneJournal } from './prune-journal.ts';
import { rotateJournal } from './rotate-journal.ts';
import { verifyJournal } from './verify-journal.ts';
import { type RowChange, type WriteOptions, WriteQueue } from './write-queue.ts';

interface BlockJournalOptions extends BlockWriterOptions {
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
  const { clock, archives: files, maxArchiveLength } = options;
  const source = { tables, archived: (from: number) => archivedBlocks(tables, files, from) };
  const seals = createSeals(tables, options.masterKey);
  const { keys, instances } = seals;
  const log = createBlockLog({ ...seals, source, clock });
  const writer = createBlockWriter(tables, log, { ...options, keeper: options.heads?.keeper });
  const marks = createHeadChecks(options.heads, { tables, log, writer, clock });
  const { write, checkpointIfDue } = writer;
  const queue = new WriteQueue({ write, checkpointIfDue, exclusively }, options.busyLimitMs ?? BUSY_LIMIT_MS);
  let closed = false;
  let ended: MaybePromise<void>;
  let upkeep: Promise<void> = Promise.resolve();
  const isClosed = () => closed;
  const parts = { ...seals, tables, files, log, writer, change, clock, maxArchiveLength, isClosed };
  sealLegacy(parts);

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
    return writer.inTransaction ? work() : queue.run(() => exclusively(work), options);
  }

  /** Claims may change without a record; their total then comes with a checkpoint. */
  function exclusively<T>(work: () => T): T {
    return writer.exclusively(() => {
      const done = work();
      if (keys.isOwed) writer.writeWithCheckpoint([]);
      return done;
    });
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
      return queue.append(prepared, { isKept: isOfTheDone(records) }) as Promise<void>;
    },
    ...keyMethods({ keys, writer, queue, clock, afterQueue, assertOpen }),
    unfinished: () => afterQueue(() => log.unfinished()),
    atomically: (work, options) => change(work, options),
    read: (filter = {}) => afterQueue(() => log.read(filter)),
    head: () => afterQueue(() => log.catchUp()),
    verify: (anchor, checks) =>
      afterQueue(() => marks.verify(() => verifyJournal({ ...parts, rows: () => log.rows() }, anchor, checks), checks)),
    rotate: async (cut) => inTurn(() => rotateJournal(parts, cut)),
    prune: async (limits) => inTurn(() => pruneJournal(parts, limits)),
    reportHeads: () => change(marks.report),
    syncedHead: () => options.heads?.keeper.synced,
    enroll(instance) {
      writer.sign(instance.id);
      return change(() => instances.enroll(instance));
    },
    instances: () => afterQueue(() => instances.live()),
    findInstance: (id) => afterQueue(() => instances.find(id)),
    retire: (id) => change(() => instances.retire(id, clock.now())),
    close() {
      if (!closed) ended = close();
      return ended;
    },
  };
}

interface KeyPorts {
  readonly keys: KeyLedger;
  readonly writer: BlockWriter;
  readonly queue: WriteQueue;
  readonly clock: Clock;
  afterQueue<T>(work: () => T): T;
  assertOpen(): void;
}

type KeyMethods = Pick<JournalStore, 'claim' | 'lookup' | 'settle' | 'release' | 'claimsOf'>;

function keyMethods({ keys, writer, queue, clock, afterQueue, assertOpen }: KeyPorts): KeyMethods {
  /** Stores the records with the change of rows they belong to, and with others of the turn. Inside `atomically` at once. */
  function store(records: readonly JournalRecord[], change: RowChange, options?: WriteOptions): MaybePromise<unknown> {
    assertOpen();
    const prepared = prepare(records);
    if (!writer.inTransaction) return queue.append(prepared, { ...options, change });
    const { result, isStored } = change();
    if (isStored) writer.write(prepared);
    return result;
  }

  return {
    claim(claim, records) {
      const take = () => {
        const result = claimKey(keys, claim);
        return { result, isStored: result.state === 'new' };
      };
      return store(records, take) as MaybePromise<KeyState>;
    },
    lookup(scope, key, argsHash) {
      assertOpen();
      return keyState(keys.find(scope, key), argsHash);
    },
    settle(scope, key, answer, records) {
      const text = JSON.stringify(answer);
      const settle = () => {
        settleKey(keys, { scope, key, answer: text, atMs: clock.now() });
        return WITH_RECORDS;
      };
      return store(records, settle, KEPT) as MaybePromise<void>;
    },
    release(scope, key, records) {
      const free = () => {
        releaseKey(keys, scope, key);
        return WITH_RECORDS;
      };
      return store(records, free, KEPT) as MaybePromise<void>;
    },
    claimsOf: (callId) => afterQueue(() => pendingClaims(keys, callId)),
  };
}

const WITH_RECORDS = { result: undefined, isStored: true };

function nothing(): void {}

/** A result whose intent is stored already. One that comes with its intent is of a call that changed nothing. */
function isOfTheDone(records: readonly JournalRecord[]): boolean {
  return records.some(({ kind }) => kind === 'result') && !records.some(({ kind }) => kind === 'intent');
}

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

interface LegacyParts {
  readonly tables: JournalTables;
  readonly writer: BlockWriter;
  readonly keys: KeyLedger;
  readonly instances: InstanceRows;
  readonly clock: Clock;
}

/**
 * Seals the claims and processes of a journal of version 1 to 3, once. Whether that is still to be done is read from
 * the chain and nowhere else: the first block of this version carries a total of claims, and so does every rotation. A
 * chain with a total is never sealed again, whatever the tables say.
 */
function sealLegacy(parts: LegacyParts): void {
  const { tables, writer } = parts;
  if (isUnsealed(tables)) writer.exclusively(() => isUnsealed(tables) && sealRows(parts));
}

/** A chain that was cut back to before its last rotation lacks a total too, and must not get one. */
function isUnsealed(tables: JournalTables): boolean {
  if (tables.lastTotal() !== undefined) return false;
  const last = tables.lastBlock();
  return last !== undefined && last.first_seq + last.count > (tables.lastArchive()?.head_seq ?? 0);
}

function sealRows({ tables, writer, keys, instances, clock }: LegacyParts): void {
  const at_ms = clock.now();
  const rows = [...tables.keys()];
  keys.carry();
  for (const row of rows) keys.adopt(row);
  for (const row of tables.instances()) instances.put(row);
  for (const { state, instance } of rows) {
    // Its entry was pruned, which only happens to those that ended.
    if (state === 'pending' && instance !== null && instances.find(instance) === undefined)
      instances.put({ id: instance, pid: 0, birth: '', retired_at: at_ms });
  }
  const record: RotationRecord = { kind: 'rotation', event: 'sealed', at_ms, claims: rows.length };
  writer.write(prepareRecords([record]));
}
