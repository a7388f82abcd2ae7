/**
 * The journal in a state folder: `journal.db` (SQLite, write-ahead log), `journal.key` (the key of its chain) and its
 * archives, `journal-<first>-<last>-<mac>.jsonl.gz`.
 *
 * Several processes may hold the same folder open. Durability `normal`: what was acknowledged survives the process
 * being killed at any moment, but a power loss or a crash of the machine may take back the last second, and the next start
 * says so. `full`: it survives those too, at the price of waiting for the disk in every commit. Neither can leave half a record.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../contracts/clock.ts';
import type { Instance, JournalStore } from '../../contracts/journal.ts';
import type { Durability } from '../../contracts/registry.ts';
import { currentInstance } from '../../platform/processes/process-identity.ts';
import { createArchiveFiles } from '../../platform/state/archive-files.ts';
import type { StateFolder } from '../../platform/state/state-folder.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { birthMark, createBlockJournal } from './block-journal.ts';
import { openHeads } from './heads.ts';
import type { JournalTables } from './journal-tables.ts';
import { isBusy, journalFailure } from './sqlite-failure.ts';
import { connect } from './sqlite-schema.ts';
import { createSqliteTables } from './sqlite-tables.ts';

export interface SqliteJournalOptions {
  readonly durability?: Durability;
  readonly clock?: Clock;
  readonly checkpointEvery?: number;
  /** How long writes wait for another process that is writing. */
  readonly busyTimeoutMs?: number;
  /** The size at which the journal counts as full and refuses further records. */
  readonly maxBytes?: number;
  /** Time between syncs of the log while there is something to sync. */
  readonly syncEveryMs?: number;
  /** Whose marks these are; this process, unless a test stands in for another boot of the machine. */
  readonly writer?: Instance;
  /** Characters of records in one archive; a rotation with more to move makes several. */
  readonly maxArchiveLength?: number;
}

const DEFAULT_CHECKPOINT_EVERY = 5000;
const DEFAULT_BUSY_TIMEOUT_MS = 5_000;
const PAUSE_MS = 20;

/**
 * Throws ToolError: a folder or file that is not safely ours, not a database, damaged, full or not writable. Waits for a
 * process that has a new file locked with the event loop standing still; a process that serves others opens with `openJournal`.
 */
export function openSqliteJournal(state: StateFolder, options: SqliteJournalOptions = {}): JournalStore {
  return open(state, options, options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS);
}

/** The same, and the event loop goes on while another process is waited for. */
export async function openJournal(state: StateFolder, options: SqliteJournalOptions = {}): Promise<JournalStore> {
  const deadline = performance.now() + (options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS);
  for (;;) {
    try {
      return open(state, options, 0);
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) throw thrown;
      await delay(PAUSE_MS);
    }
  }
}

function open(state: StateFolder, options: SqliteJournalOptions, waitMs: number): JournalStore {
  const { durability = 'normal', clock = createSystemClock(), maxBytes } = options;
  // The key comes first: a database without its key can then only mean that the key was lost.
  const masterKey = state.key();
  const path = state.file('journal.db');
  const busyLimitMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
  try {
    const tables = createSqliteTables(connect({ path, durability, waitMs, maxBytes, birthMark: birthMark(masterKey) }));
    const checkpointEvery = options.checkpointEvery ?? DEFAULT_CHECKPOINT_EVERY;
    const archives = createArchiveFiles(state.path);
    const { maxArchiveLength, syncEveryMs, writer = currentInstance() } = options;
    const heads = openHeads({ state, masterKey, durability, clock, syncEveryMs, writer });
    const journal = { masterKey, clock, checkpointEvery, archives, maxArchiveLength, heads, busyLimitMs };
    return closingOnFailure(tables, () => createBlockJournal(tables, journal));
  } catch (thrown) {
    throw journalFailure(thrown);
  }
}

function closingOnFailure<T>(tables: JournalTables, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    tables.close();
    throw thrown;
  }
}
