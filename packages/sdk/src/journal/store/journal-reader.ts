/** The journal of a state folder for those who only look: creates nothing, changes nothing, signs on nowhere. */
import { DatabaseSync } from 'node:sqlite';
import type { ChainHead, ReadFilter, StoredRecord, VerifyOptions, VerifyReport } from '../../contracts/journal.ts';
import { isAlive } from '../../platform/processes/process-identity.ts';
import { createArchiveFiles } from '../../platform/state/archive-files.ts';
import { type DatabaseView, type EvidenceFolder, openEvidenceFolder } from '../../platform/state/evidence-folder.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { archivedBlocks } from './archive-blocks.ts';
import { undisturbed } from './archive-rows.ts';
import { createSeals } from './block-journal.ts';
import { createBlockLog } from './block-log.ts';
import { readHeads, verifyWithHeads } from './heads.ts';
import type { JournalTables } from './journal-tables.ts';
import { journalFailure } from './sqlite-failure.ts';
import { connect, isCurrent } from './sqlite-schema.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import { verifyJournal } from './verify-journal.ts';

export interface JournalReader {
  records(filter?: ReadFilter): Iterable<StoredRecord>;
  head(): ChainHead;
  verify(anchor?: ChainHead, options?: VerifyOptions): VerifyReport;
  /** Ids of the processes that have the journal open. */
  instances(): readonly string[];
  close(): void;
}

/** Throws ToolError for a folder that holds no journal, and says what is missing. */
export function openJournalReader(folder: string): JournalReader {
  const state = openEvidenceFolder(folder);
  const tables = createFollowingTables(state);
  const files = createArchiveFiles(state.path, state.open);
  const seals = createSeals(tables, state.key);
  const source = { tables, archived: (from: number) => archivedBlocks(tables, files, from) };
  const log = createBlockLog({ ...seals, source, clock: createSystemClock() });
  const parts = { ...seals, tables, files, rows: () => log.rows() };
  const heads = readHeads(state);
  return {
    records: (filter = {}) => log.read(filter),
    head: () => log.catchUp(),
    verify: (anchor, options) =>
      undisturbed(tables, () =>
        verifyWithHeads(heads, { tables, log }, () => verifyJournal(parts, anchor, options), options),
      ),
    instances: () =>
      seals.instances
        .live()
        .filter(isAlive)
        .map(({ id }) => id),
    close: () => tables.close(),
  };
}

interface Connection {
  readonly tables: JournalTables;
  isStale(): boolean;
  close(): void;
}

/** Tables that are opened again, and asked again, when the database was changed in a way their connection cannot see. */
function createFollowingTables(state: EvidenceFolder): JournalTables {
  let current = connectReader(state);
  let isAsking = false;

  function ask<T>(question: (tables: JournalTables) => T): T {
    if (isAsking) return question(current.tables);
    isAsking = true;
    try {
      for (;;) {
        if (current.isStale()) current = reopened();
        const answer = attempt(() => question(current.tables));
        if (!current.isStale()) return answer();
      }
    } finally {
      isAsking = false;
    }
  }

  function reopened(): Connection {
    current.close();
    return connectReader(state);
  }

  const following = (name: keyof JournalTables) =>
    name === 'close'
      ? () => current.close()
      : (...args: never[]) => ask((tables) => (tables[name] as (...given: never[]) => unknown)(...args));
  return new Proxy({} as JournalTables, { get: (_, name) => following(name as keyof JournalTables) });
}

function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (thrown) {
    return () => {
      throw thrown;
    };
  }
}

function connectReader(state: EvidenceFolder): Connection {
  const view = state.view();
  if (view.kind === 'copy') return connectCopy(view);
  try {
    const database = new DatabaseSync(view.location, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      database.exec('PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY');
      if (isCurrent(database)) return connection(database, view);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
    database.close();
  } catch (thrown) {
    if (!needsWriting(thrown)) throw journalFailure(thrown);
  }
  // An older version, or a log that SQLite cannot read without writing beside it.
  return connectCopy(state.copy());
}

const BUSY_TIMEOUT_MS = 5000;

function connectCopy(view: DatabaseView): Connection {
  try {
    const path = view.location;
    return connection(connect({ path, durability: 'normal', waitMs: BUSY_TIMEOUT_MS, birthMark: '' }), view);
  } catch (thrown) {
    view.dispose();
    throw journalFailure(thrown);
  }
}

function connection(database: DatabaseSync, view: DatabaseView): Connection {
  const tables = createSqliteTables(database);
  return {
    tables,
    isStale: () => view.isStale(),
    close() {
      tables.close();
      view.dispose();
    },
  };
}

/** Read-only, input or output, full, cannot open. */
const WRITE_CODES: ReadonlySet<number> = new Set([8, 10, 13, 14]);

function needsWriting(thrown: unknown): boolean {
  const code = (thrown as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && WRITE_CODES.has(code & 0xff);
}
