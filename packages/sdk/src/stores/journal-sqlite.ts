/**
 * The journal in a state folder: `journal.db` (SQLite, write-ahead log), `journal.key` (the key of its chain) and its
 * archives, `journal-<first>-<last>-<mac>.jsonl.gz`.
 *
 * Several processes may hold the same folder open. Durability `normal`: what was acknowledged survives the process
 * being killed at any moment, but a power loss or a crash of the machine may take back the last moments. `full`: it
 * survives those too, at the price of waiting for the disk in every commit. Neither can leave half a record.
 */
import type { Clock } from '../contracts/clock.ts';
import type { JournalStore } from '../contracts/journal.ts';
import { createArchiveFiles } from '../platform/archive-files.ts';
import type { StateFolder } from '../platform/state-folder.ts';
import { createSystemClock } from '../platform/system-clock.ts';
import { birthMark, createBlockJournal } from './block-journal.ts';
import { journalFailure } from './sqlite-failure.ts';
import { connect } from './sqlite-schema.ts';
import { createSqliteTables } from './sqlite-tables.ts';

export interface SqliteJournalOptions {
  readonly durability?: 'normal' | 'full';
  readonly clock?: Clock;
  readonly checkpointEvery?: number;
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number;
  /** The size at which the journal counts as full and refuses further records. */
  readonly maxBytes?: number;
  /** Characters of records in one archive; a rotation with more to move makes several. */
  readonly maxArchiveLength?: number;
}

const DEFAULT_CHECKPOINT_EVERY = 5000;
const DEFAULT_BUSY_TIMEOUT_MS = 10_000;

/** Throws ToolError: a folder or file that is not safely ours, not a database, damaged, full or not writable. */
export function openSqliteJournal(state: StateFolder, options: SqliteJournalOptions = {}): JournalStore {
  const { durability = 'normal', clock = createSystemClock(), maxBytes } = options;
  // The key comes first: a database without its key can then only mean that the key was lost.
  const masterKey = state.key();
  const path = state.file('journal.db');
  const busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
  try {
    const tables = createSqliteTables(
      connect({ path, durability, busyTimeoutMs, maxBytes, birthMark: birthMark(masterKey) }),
    );
    const checkpointEvery = options.checkpointEvery ?? DEFAULT_CHECKPOINT_EVERY;
    const archives = createArchiveFiles(state.path);
    const { maxArchiveLength } = options;
    return createBlockJournal(tables, { masterKey, clock, checkpointEvery, archives, maxArchiveLength });
  } catch (thrown) {
    throw journalFailure(thrown);
  }
}
