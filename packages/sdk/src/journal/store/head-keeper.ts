/**
 * Keeps what a power cut can take small, and known: while there are records that are not on the disk, the log is synced
 * once a second, and after each sync a mark says how far it is.
 *
 * The first mark is on the disk before the first record of this process is written: a machine that stops after that is
 * seen to have stopped. Later ones cost a call nothing but a flag; the sync runs beside the event loop.
 */

import type { Clock } from '../../contracts/clock.ts';
import { failure } from '../../contracts/failures.ts';
import type { ChainHead, Instance } from '../../contracts/journal.ts';
import type { Durability } from '../../contracts/registry.ts';
import type { LogSync } from '../../platform/state/log-sync.ts';
import type { MarkFile, MarkFiles } from '../../platform/state/mark-files.ts';
import type { MarkFormat } from './head-marks.ts';

/** Records of so long may be missing after a power cut under `normal`, and what the disk needs to sync them. */
export const SYNC_EVERY_MS = 1000;

export interface Chain {
  /** The newest head this process knows; it is stored. */
  readonly head: ChainHead;
  /** The stored head, read anew. */
  catchUp(): ChainHead;
}

export interface HeadKeeper {
  /** Name of the mark, once there is one. */
  readonly markName: string | undefined;
  /** The newest head of this process that is on the disk. */
  readonly synced: ChainHead | undefined;
  /** Before a block is written. Throws when the journal cannot be brought to the disk any more. */
  before(chain: Chain): void;
  /** After it was. */
  after(): void;
  /** Marks of processes that ended, to be removed once what was recorded about them is on the disk. */
  supersede(names: readonly string[]): void;
  /** Brings the log to the disk before the database is closed. */
  settle(): void;
  /** After that: the last mark. */
  finish(): void;
}

export interface KeeperOptions {
  readonly files: MarkFiles;
  readonly log: LogSync;
  readonly format: MarkFormat;
  readonly writer: Instance;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly everyMs?: number | undefined;
}

export function createHeadKeeper(options: KeeperOptions): HeadKeeper {
  const { files, log, format, writer, durability, clock, everyMs = SYNC_EVERY_MS } = options;
  let chain: Chain | undefined;
  let file: MarkFile | undefined;
  let synced: ChainHead | undefined;
  let obsolete: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let isSyncing = false;
  /** Something was written while a sync was under way. */
  let isDue = false;
  let isOver = false;
  let broken: unknown;

  const line = (head: ChainHead, clean: boolean): string => {
    turn += 1;
    return format.write({ writer, durability, clean, head, at_ms: clock.now(), turn });
  };

  function removeObsolete(): void {
    for (const name of obsolete) files.remove(name);
    obsolete = [];
  }

  function begin(found: Chain): void {
    chain = found;
    const head = found.catchUp();
    log.now();
    file = files.create(writer.id, line(head, false));
    synced = head;
  }

  async function syncLog(): Promise<void> {
    timer = undefined;
    isSyncing = true;
    try {
      await advance();
    } finally {
      isSyncing = false;
      if (isOver) release();
      else if (isDue) schedule();
    }
  }

  /** Errors of the mark are no harm: it stays behind until the next sync. One of the log means that records are gone. */
  async function advance(): Promise<void> {
    if (chain === undefined || file === undefined) return;
    const { head } = chain;
    try {
      await log.later();
    } catch (thrown) {
      broken = thrown;
      return;
    }
    if (isOver) return;
    synced = head;
    try {
      file.write(line(head, false));
      await file.sync();
      removeObsolete();
    } catch {
      schedule();
    }
  }

  /** One sync at a time: whichever ends last closes the files, and they may be closed only once. */
  function schedule(): void {
    isDue = isSyncing;
    if (isOver || isSyncing) return;
    timer ??= setTimeout(() => void syncLog(), everyMs).unref();
  }

  function release(): void {
    file?.close();
    log.close();
  }

  return {
    get markName() {
      return file === undefined ? undefined : writer.id;
    },
    get synced() {
      return synced;
    },
    before(found) {
      if (broken !== undefined) throw unsyncable(broken);
      if (file === undefined) begin(found);
    },
    after: schedule,
    supersede(names) {
      obsolete = names;
    },
    settle() {
      isOver = true;
      clearTimeout(timer);
      if (file !== undefined && broken === undefined) log.now();
    },
    finish() {
      if (file !== undefined && chain !== undefined && broken === undefined) {
        synced = chain.head;
        file.write(line(chain.head, true));
        file.syncNow();
        removeObsolete();
      }
      if (!isSyncing) release();
    },
  };
}

function unsyncable(cause: unknown) {
  return failure('journal_failure', 'repair_needed', 'Journal cannot be brought to the disk: journal.db-wal', {
    details: { gate: 'journal', reason: 'sync_failed', next: 'check the disk of the state folder, then start again' },
    cause,
  });
}
