import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import type { ChainHead, VerifyReport } from '../../contracts/journal.ts';
import { purposeKey } from '../../platform/digest.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { sampleIntent, sampleRequested, sampleResult } from '../../testing/sample-records.ts';
import { createSeal } from './block-body.ts';
import { GENESIS, verifyBlocks } from './block-chain.ts';
import { openSqliteJournal } from './journal-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'block-chain-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Blocks start at 1, 4, 5, 7, 8; the last record is 8. */
const BLOCKS = [3, 1, 2, 1, 1];
const STARTS = [1, 4, 5, 7, 8];
const LAST = 8;

async function sampleFolder(): Promise<{ folder: string; head: ChainHead }> {
  const folder = join(root, 'original');
  const store = openSqliteJournal(openStateFolder(folder));
  for (const [at, count] of BLOCKS.entries()) {
    const records = [sampleRequested(`c${at}`), sampleIntent(`c${at}`), sampleResult(`c${at}`)];
    await store.append(records.slice(0, count));
  }
  const head = store.head();
  // Not closed: closing would add a checkpoint. The copy below is of a settled file.
  new DatabaseSync(join(folder, 'journal.db')).exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return { folder, head };
}

const original = await sampleFolder();
let copies = 0;

/** Verifies a copy of the sample after running `sql` on it behind the journal's back. */
function tampered(sql: string, anchor?: ChainHead): VerifyReport {
  const folder = openStateFolder(join(root, `copy-${copies++}`)).path;
  for (const name of ['journal.key', 'journal.db']) copyFileSync(join(original.folder, name), join(folder, name));
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec(sql);
  database.close();
  const store = openSqliteJournal(openStateFolder(folder));
  try {
    return store.verify(anchor);
  } finally {
    void store.close();
  }
}

describe('a chain that was tampered with', () => {
  test('the untouched copy verifies, so what follows is caused by the change [S1-41]', () => {
    assert.deepEqual(tampered('SELECT 1', original.head), { ok: true, records: LAST, head: original.head });
  });

  test('any byte changed in any body is found at its row [S1-41]', () => {
    for (const start of STARTS) {
      const { body } = rowAt(start);
      const step = Math.max(1, Math.floor(body.length / 12));
      for (let at = 1; at <= body.length; at += step) {
        const change = `CASE substr(body, ${at}, 1) WHEN 'x' THEN 'y' ELSE 'x' END`;
        const sql = `UPDATE block SET body = substr(body, 1, ${at - 1}) || ${change} || substr(body, ${at + 1})
          WHERE first_seq = ${start}`;
        expectBroken(tampered(sql), start, /^mac mismatch$|^count mismatch/);
      }
    }
  });

  test('every byte of every MAC is checked, at its row [S1-41]', () => {
    for (const start of STARTS) {
      for (let at = 0; at < 32; at += 5) {
        const { mac } = rowAt(start);
        const changed =
          mac.slice(0, at * 2) + (mac.slice(at * 2, at * 2 + 2) === '00' ? '01' : '00') + mac.slice(at * 2 + 2);
        expectBroken(
          tampered(`UPDATE block SET mac = x'${changed}' WHERE first_seq = ${start}`),
          start,
          /^mac mismatch$/,
        );
      }
      expectBroken(tampered(`UPDATE block SET mac = x'' WHERE first_seq = ${start}`), start, /^mac mismatch$/);
    }
  });

  test('a changed time or count is found at its row [S1-41]', () => {
    for (const start of STARTS) {
      expectBroken(tampered(`UPDATE block SET at_ms = at_ms + 1 WHERE first_seq = ${start}`), start, /^mac mismatch$/);
      expectBroken(tampered(`UPDATE block SET count = count + 1 WHERE first_seq = ${start}`), start, /^count mismatch/);
      expectBroken(tampered(`UPDATE block SET count = 'many' WHERE first_seq = ${start}`), start, /^count mismatch/);
      expectBroken(
        tampered(`UPDATE block SET body = CAST(body AS BLOB) WHERE first_seq = ${start}`),
        start,
        /^unparsable/,
      );
    }
  });

  test('a moved row is found where it should stand [S1-41]', () => {
    for (const start of STARTS) {
      expectBroken(tampered(`UPDATE block SET first_seq = 1000 WHERE first_seq = ${start}`), start, /^gap: /);
      expectBroken(
        tampered(`UPDATE block SET first_seq = 9000000000000000000 WHERE first_seq = ${start}`),
        start,
        /^gap|^unread/,
      );
      expectBroken(tampered(`UPDATE block SET first_seq = -5 WHERE first_seq = ${start}`), 1, /^overlap: /);
    }
  });

  test('a deleted row leaves a gap, and a deleted end shows against the anchor only [S1-41]', () => {
    for (const start of STARTS.slice(0, -1)) {
      expectBroken(tampered(`DELETE FROM block WHERE first_seq = ${start}`), start, /^gap: /);
    }
    for (const start of STARTS) {
      const cut = `DELETE FROM block WHERE first_seq >= ${start}`;
      if (start === 1) expectBroken(tampered(cut), 1, /^emptied: /);
      else assert.equal(tampered(cut).ok, true);
      expectBroken(tampered(cut, original.head), start, /^anchor not contained: chain was cut or rewritten$/);
    }
  });

  test('two rows with their contents exchanged are found at the first of them [S1-41]', () => {
    for (const [one, other] of [[4, 7] as const, [7, 8] as const, [4, 8] as const]) {
      const sql = `UPDATE block SET first_seq = -1 WHERE first_seq = ${one};
        UPDATE block SET first_seq = ${one} WHERE first_seq = ${other};
        UPDATE block SET first_seq = ${other} WHERE first_seq = -1`;
      expectBroken(tampered(sql), one, /^mac mismatch$/);
    }
  });

  test('a row added at the end, in between or in front is found [S1-41]', () => {
    const add = (seq: number) =>
      `INSERT INTO block SELECT ${seq}, count, at_ms, body, mac, claims FROM block WHERE first_seq = 8`;
    expectBroken(tampered(add(9)), 9, /^mac mismatch$/);
    expectBroken(tampered(add(2)), 4, /^overlap: /);
    expectBroken(tampered(add(0)), 1, /^overlap: /);
  });

  test('a chain rewritten with another key is found at its first row [S1-41]', () => {
    const seal = createSeal(Buffer.alloc(32, 9));
    let mac = GENESIS.mac;
    const statements = STARTS.map((start) => {
      const row = rowAt(start);
      mac = seal(mac, row);
      return `UPDATE block SET mac = x'${mac}' WHERE first_seq = ${start}`;
    });
    expectBroken(tampered(statements.join(';')), 1, /^mac mismatch$/);
  });
});

describe('seal', () => {
  const key = Buffer.alloc(32, 3);
  const block = { first_seq: 1, count: 1, at_ms: 5, body: '{"kind":"child","note":"ä😀"}' };

  test('is the HMAC-SHA256 any other tool computes from the same text', () => {
    const text = `${GENESIS.mac}:1:1:5\n${block.body}`;
    const expected = createHmac('sha256', purposeKey(key, 'tool-runtime journal chain v1')).update(text).digest('hex');
    assert.equal(createSeal(key)(GENESIS.mac, block), expected);
  });

  test('a block that its key holder wrote badly is unparsable all the same', () => {
    const seal = createSeal(key);
    const reasons = ['not json', '{"no":"kind"}', '{"kind":"child"}\n{"kind":"child"}', 'null'].map((body) => {
      const bad = { ...block, body };
      return verifyBlocks([{ ...bad, mac: seal(GENESIS.mac, bad) }], seal).broken?.reason;
    });
    assert.deepEqual(reasons, [
      'unparsable: a record is not JSON',
      'unparsable: a record has no kind',
      'count mismatch: 2 records where 1 are stated',
      'unparsable: a record has no kind',
    ]);
    assert.equal(verifyBlocks([{ ...block, mac: seal(GENESIS.mac, block) }], seal).ok, true);
  });
});

interface Row {
  first_seq: number;
  count: number;
  at_ms: number;
  body: string;
  mac: string;
  claims: string | null;
}

function rowAt(start: number): Row {
  const database = new DatabaseSync(join(original.folder, 'journal.db'));
  const sql = 'SELECT first_seq, count, at_ms, claims, body, lower(hex(mac)) AS mac FROM block WHERE first_seq = ?';
  const row = database.prepare(sql).get(start) as unknown as Row;
  database.close();
  return row;
}

function expectBroken(report: VerifyReport, seq: number, reason: RegExp): void {
  assert.equal(report.ok, false);
  assert.equal(report.broken?.seq, seq, report.broken?.reason);
  assert.match(report.broken?.reason ?? '', reason);
}
