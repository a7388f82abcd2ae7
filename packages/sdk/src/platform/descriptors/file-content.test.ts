import assert from 'node:assert/strict';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sha256Hex } from '../digest.ts';
import { readContent } from './file-content.ts';

test('the pieces of a read make up the whole file, whatever part of it is returned [S0-30]', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'file-content-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'file');
  for (const size of [0, 1000, 1024 * 1024, 1024 * 1024 + 1, 3_000_000]) {
    const whole = Buffer.alloc(size, 'abcdefg');
    writeFileSync(file, whole);
    for (const maxBytes of [0, 10, 700_000, size]) {
      const pieces: Buffer[] = [];
      const onPiece = (piece: Uint8Array) => pieces.push(Buffer.from(piece));
      const read = await readContent(openSync(file, 'r'), { maxBytes, onPiece });
      assert.ok(Buffer.concat(pieces).equals(whole), `${size} ${maxBytes}`);
      assert.ok(whole.subarray(0, maxBytes).equals(read.bytes));
      assert.deepEqual([read.sha256, read.truncated], [sha256Hex(whole), size > maxBytes]);
    }
  }
});

test('a small read never looks at the signal [S0-30]', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'file-content-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'file');
  writeFileSync(file, 'x');
  const options = {
    get signal(): AbortSignal {
      return assert.fail('nobody may ask');
    },
  };
  assert.ok(!(readContent(openSync(file, 'r'), options) instanceof Promise));
});
