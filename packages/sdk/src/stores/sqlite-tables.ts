/** The rows of a journal in SQLite. Every statement is prepared once; MACs are bytes on disk and hex outside. */
import type { DatabaseSync } from 'node:sqlite';
import type { Instance } from '../contracts/journal.ts';
import type { ArchiveRow, BlockRow, JournalTables, KeyRow } from './journal-tables.ts';
import { isBusy, journalFailure, pauseBriefly } from './sqlite-failure.ts';

const READ_TRIES = 20;

const BLOCK = 'SELECT first_seq, count, at_ms, body, lower(hex(mac)) AS mac FROM block';
const KEY = 'SELECT scope, key, args_hash, call_id, state, answer, instance, rehearsal FROM key_claim';
const ARCHIVE = `SELECT through, first_seq, lower(hex(mac)) AS mac, name, sha256, bytes, newest_at_ms, head_seq,
  content_seq, pruned_at, lower(hex(seal)) AS seal FROM archive`;

export function createSqliteTables(database: DatabaseSync): JournalTables {
  return {
    ...blockTable(database),
    ...archiveTable(database),
    ...keyTable(database),
    ...instanceTable(database),
    ...connection(database),
  };
}

function blockTable(
  database: DatabaseSync,
): Pick<
  JournalTables,
  'lastBlock' | 'insertBlock' | 'blockAt' | 'blocksAfter' | 'deleteBlocks' | 'checkpointSeq' | 'markCheckpoint'
> {
  // No count where a block stands behind: the row is then ignored as one at a taken place is. Costs less than a WHERE.
  const insert = database.prepare(`INSERT OR IGNORE INTO block
    VALUES (?1, iif(EXISTS (SELECT 1 FROM block WHERE first_seq > ?1), NULL, ?2), ?3, ?4, unhex(?5))`);
  const last = database.prepare(`${BLOCK} ORDER BY first_seq DESC LIMIT 1`);
  const at = database.prepare(`${BLOCK} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`);
  const after = database.prepare(`${BLOCK} WHERE first_seq > ? ORDER BY first_seq LIMIT ?`);
  const remove = database.prepare('DELETE FROM block WHERE first_seq <= ?');
  const mark = database.prepare("SELECT seq FROM mark WHERE name = 'checkpoint'");
  const setMark = database.prepare("INSERT OR REPLACE INTO mark VALUES ('checkpoint', ?)");
  return {
    lastBlock: () => reading(() => last.get() as BlockRow | undefined),
    insertBlock: ({ first_seq, count, at_ms, body, mac }) =>
      guarded(() => insert.run(first_seq, count, at_ms, body, mac).changes === 1),
    blockAt: (seq) => reading(() => at.get(seq) as BlockRow | undefined),
    blocksAfter: (firstSeq, limit) => reading(() => after.all(firstSeq, limit) as unknown as BlockRow[]),
    deleteBlocks: (through) => guarded(() => void remove.run(through)),
    checkpointSeq: () => reading(() => Number(mark.get()?.['seq'] ?? 0)),
    markCheckpoint: (seq) => guarded(() => void setMark.run(seq)),
  };
}

function archiveTable(database: DatabaseSync): Pick<JournalTables, 'archives' | 'lastArchive' | 'putArchive'> {
  const all = database.prepare(`${ARCHIVE} ORDER BY through`);
  const last = database.prepare(`${ARCHIVE} ORDER BY through DESC LIMIT 1`);
  const put = database.prepare(`INSERT OR REPLACE INTO archive VALUES
    (:through, :first_seq, unhex(:mac), :name, :sha256, :bytes, :newest_at_ms, :head_seq, :content_seq, :pruned_at,
    unhex(:seal))`);
  return {
    archives: () => reading(() => all.all() as unknown as ArchiveRow[]),
    lastArchive: () => reading(() => last.get() as unknown as ArchiveRow | undefined),
    putArchive: (row) => guarded(() => void put.run({ ...row })),
  };
}

function keyTable(
  database: DatabaseSync,
): Pick<JournalTables, 'findKey' | 'insertKey' | 'settleKey' | 'deleteKey' | 'pendingKeys' | 'deleteAnswers'> {
  const find = database.prepare(`${KEY} WHERE scope = ? AND key = ?`);
  const insert = database.prepare(`INSERT INTO key_claim
    (scope, key, args_hash, call_id, state, answer, instance, rehearsal) VALUES
    (:scope, :key, :args_hash, :call_id, :state, :answer, :instance, :rehearsal)`);
  const settle = database.prepare(
    "UPDATE key_claim SET state = 'done', answer = ?, settled_at = ?, rehearsal = NULL WHERE scope = ? AND key = ?",
  );
  const remove = database.prepare('DELETE FROM key_claim WHERE scope = ? AND key = ?');
  const pending = database.prepare(`${KEY} WHERE call_id = ? AND state = 'pending' ORDER BY scope, key`);
  const forget = database.prepare(`DELETE FROM key_claim WHERE (scope, key) IN (SELECT scope, key FROM key_claim
    WHERE state = 'done' AND substr(scope, 1, length(?1)) = ?1 AND settled_at < ?2 LIMIT ?3)`);
  return {
    findKey: (scope, key) => reading(() => find.get(scope, key) as unknown as KeyRow | undefined),
    insertKey: (row) => guarded(() => void insert.run({ ...row })),
    settleKey: (scope, key, answer, atMs) => guarded(() => void settle.run(answer, atMs, scope, key)),
    deleteKey: (scope, key) => guarded(() => void remove.run(scope, key)),
    pendingKeys: (callId) => reading(() => pending.all(callId) as unknown as KeyRow[]),
    deleteAnswers: (scopePrefix, before, limit) =>
      guarded(() => Number(forget.run(scopePrefix, before, limit).changes)),
  };
}

function instanceTable(
  database: DatabaseSync,
): Pick<JournalTables, 'enroll' | 'instances' | 'retire' | 'deleteRetired'> {
  const enroll = database.prepare('INSERT OR REPLACE INTO instance VALUES (?, ?, ?, NULL)');
  const live = database.prepare('SELECT id, pid, birth FROM instance WHERE retired_at IS NULL ORDER BY id');
  const retire = database.prepare('UPDATE instance SET retired_at = ? WHERE id = ? AND retired_at IS NULL');
  const remove = database.prepare(
    'DELETE FROM instance WHERE retired_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))',
  );
  return {
    enroll: ({ id, pid, birth }) => guarded(() => void enroll.run(id, pid, birth)),
    instances: () => reading(() => (live.all() as unknown as Instance[]).map((row) => ({ ...row }))),
    retire: (id, atMs) => guarded(() => void retire.run(atMs, id)),
    deleteRetired: (except) => guarded(() => Number(remove.run(JSON.stringify(except)).changes)),
  };
}

function connection(database: DatabaseSync): Pick<JournalTables, 'transaction' | 'close'> {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  return {
    transaction(work) {
      guarded(() => begin.run());
      try {
        const result = work();
        guarded(() => commit.run());
        return result;
      } catch (thrown) {
        // A full disk may already have ended the transaction.
        if (database.isTransaction) guarded(() => rollback.run());
        throw thrown;
      }
    },
    close: () => guarded(() => database.close()),
  };
}

/** In the write-ahead log a reader waits for nobody but a process that repairs it after a crash, which takes moments. */
function reading<T>(work: () => T): T {
  for (let tries = READ_TRIES; ; tries--) {
    try {
      return work();
    } catch (thrown) {
      if (tries === 0 || !isBusy(thrown)) throw journalFailure(thrown);
      pauseBriefly();
    }
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw journalFailure(thrown);
  }
}
