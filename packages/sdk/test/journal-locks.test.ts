/**
 * SQLite keeps its locks on a file per process: closing any descriptor of the database drops them all, and the process then
 * uses the journal without a lock. So nothing but SQLite opens a database that exists.
 */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJournalReader } from '../src/journal/store/journal-reader.ts';
import { openSqliteJournal } from '../src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';

function isLocked(path: string): boolean {
  const lock = new RegExp(` ${process.pid} \\S+:${statSync(path).ino} `);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => lock.test(line));
}

test('a second runtime, reader or check in one process does not drop the locks of the first', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'journal-locks-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const database = join(folder, 'journal.db');
  const state = openStateFolder(folder);
  const store = openSqliteJournal(state);
  await store.append([{ kind: 'recovery', at_ms: 1, reason: 'crashed', classification: 'repair' }]);
  assert.ok(isLocked(database));
  const second = openSqliteJournal(openStateFolder(folder));
  state.file('journal.db');
  const reader = openJournalReader(folder);
  assert.equal(reader.verify().ok, true);
  reader.close();
  await second.close();
  assert.ok(isLocked(database), 'the lock is still there');
  closeSync(openSync(database, 'r'));
  assert.ok(!isLocked(database), 'opening it in any other way drops the lock');
  await store.close();
});
