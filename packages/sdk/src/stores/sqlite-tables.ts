/** The rows of a journal in SQLite. Every statement is prepared once; MACs are bytes on disk and hex outside. */
import type { DatabaseSync } from 'node:sqlite';
import type { Instance } from '../contracts/journal.ts';
import type { BlockRow, JournalTables, KeyRow } from './journal-tables.ts';
import { journalFailure } from './sqlite-failure.ts';

const BLOCK = 'SELECT first_seq, count, at_ms, body, lower(hex(mac)) AS mac FROM block';
const KEY = 'SELECT scope, key, args_hash, call_id, state, answer FROM key_claim';

export function createSqliteTables(database: DatabaseSync): JournalTables {
  return { ...blockTable(database), ...keyTable(database), ...instanceTable(database), ...connection(database) };
}

function blockTable(
  database: DatabaseSync,
): Pick<JournalTables, 'lastBlock' | 'insertBlock' | 'blockAt' | 'blocksAfter' | 'checkpointSeq' | 'markCheckpoint'> {
  const insert = database.prepare('INSERT OR IGNORE INTO block VALUES (?, ?, ?, ?, unhex(?))');
  const last = database.prepare(`${BLOCK} ORDER BY first_seq DESC LIMIT 1`);
  const at = database.prepare(`${BLOCK} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`);
  const after = database.prepare(`${BLOCK} WHERE first_seq > ? ORDER BY first_seq LIMIT ?`);
  const mark = database.prepare("SELECT seq FROM mark WHERE name = 'checkpoint'");
  const setMark = database.prepare("INSERT OR REPLACE INTO mark VALUES ('checkpoint', ?)");
  return {
    lastBlock: () => guarded(() => last.get() as BlockRow | undefined),
    insertBlock: ({ first_seq, count, at_ms, body, mac }) =>
      guarded(() => insert.run(first_seq, count, at_ms, body, mac).changes === 1),
    blockAt: (seq) => guarded(() => at.get(seq) as BlockRow | undefined),
    blocksAfter: (firstSeq, limit) => guarded(() => after.all(firstSeq, limit) as unknown as BlockRow[]),
    checkpointSeq: () => guarded(() => Number(mark.get()?.['seq'] ?? 0)),
    markCheckpoint: (seq) => guarded(() => void setMark.run(seq)),
  };
}

function keyTable(
  database: DatabaseSync,
): Pick<JournalTables, 'findKey' | 'insertKey' | 'settleKey' | 'deleteKey' | 'pendingKeys'> {
  const find = database.prepare(`${KEY} WHERE scope = ? AND key = ?`);
  const insert = database.prepare('INSERT INTO key_claim VALUES (?, ?, ?, ?, ?, ?)');
  const settle = database.prepare("UPDATE key_claim SET state = 'done', answer = ? WHERE scope = ? AND key = ?");
  const remove = database.prepare('DELETE FROM key_claim WHERE scope = ? AND key = ?');
  const pending = database.prepare(`${KEY} WHERE call_id = ? AND state = 'pending' ORDER BY scope, key`);
  return {
    findKey: (scope, key) => guarded(() => find.get(scope, key) as unknown as KeyRow | undefined),
    insertKey: (row) =>
      guarded(() => void insert.run(row.scope, row.key, row.args_hash, row.call_id, row.state, row.answer)),
    settleKey: (scope, key, answer) => guarded(() => void settle.run(answer, scope, key)),
    deleteKey: (scope, key) => guarded(() => void remove.run(scope, key)),
    pendingKeys: (callId) => guarded(() => pending.all(callId) as unknown as KeyRow[]),
  };
}

function instanceTable(database: DatabaseSync): Pick<JournalTables, 'enroll' | 'instances' | 'retire'> {
  const enroll = database.prepare('INSERT OR REPLACE INTO instance VALUES (?, ?, ?, NULL)');
  const live = database.prepare('SELECT id, pid, birth FROM instance WHERE retired_at IS NULL ORDER BY id');
  const retire = database.prepare('UPDATE instance SET retired_at = ? WHERE id = ? AND retired_at IS NULL');
  return {
    enroll: ({ id, pid, birth }) => guarded(() => void enroll.run(id, pid, birth)),
    instances: () => guarded(() => (live.all() as unknown as Instance[]).map((row) => ({ ...row }))),
    retire: (id, atMs) => guarded(() => void retire.run(atMs, id)),
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

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw journalFailure(thrown);
  }
}
