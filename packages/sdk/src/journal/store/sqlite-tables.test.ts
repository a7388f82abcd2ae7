import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { sampleIntent, sampleResult } from '../../testing/sample-records.ts';
import { openSqliteJournal, type SqliteJournalOptions } from './journal-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'sqlite-tables-'));
after(() => rmSync(root, { recursive: true, force: true }));

const newFolder = () => mkdtempSync(join(root, 'state-'));
const openIn = (folder: string, options?: SqliteJournalOptions) => openSqliteJournal(openStateFolder(folder), options);

describe('the place among the readers that commits share', () => {
  test('does not hide what another connection wrote, from reads or from writes', async () => {
    const folder = newFolder();
    const [one, other] = [openIn(folder), openIn(folder)];
    for (let round = 0; round < 100; round++) {
      await one.append([sampleIntent(`a${round}`)]);
      await one.append([sampleResult(`a${round}`)]);
      await other.append([sampleIntent(`b${round}`)]);
      assert.equal(one.head().seq, other.head().seq);
      assert.deepEqual(
        one.unfinished().map(({ call_id }) => call_id),
        [`b${round}`],
      );
      await one.append([sampleResult(`b${round}`)]);
    }
    assert.equal(other.verify().ok, true);
    assert.deepEqual(
      [[...other.read({ kind: 'intent' })].length, [...one.read({ kind: 'result' })].length],
      [200, 200],
    );
    await one.close();
    await other.close();
  });

  test('is given up often enough for the log to move into the database', async () => {
    const folder = newFolder();
    // A checkpoint gives it up too, so this journal makes no checkpoints.
    const journal = openIn(folder, { checkpointEvery: Number.MAX_SAFE_INTEGER });
    for (let call = 0; call < 10_000; call++)
      await journal.append([sampleIntent(`c${call}`), sampleResult(`c${call}`)]);
    const frames = statSync(join(folder, 'journal.db-wal')).size / 4120;
    assert.ok(frames < 8192 + 2048, `${frames} pages in the log`);
    await journal.close();
  });

  test('is given up when nothing is written any more, so that others can shorten the log', async () => {
    const folder = newFolder();
    const journal = openIn(folder);
    await journal.append([sampleIntent('a')]);
    const other = new DatabaseSync(join(folder, 'journal.db'));
    for (let isBusy = 1; isBusy !== 0; ) {
      isBusy = Number(other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']);
      if (isBusy !== 0) await delay(10);
    }
    other.close();
    assert.equal(statSync(join(folder, 'journal.db-wal')).size, 0);
    await journal.close();
  });
});
