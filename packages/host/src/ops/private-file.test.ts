import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createPrivateFile, readPrivateFile, replacePrivateFile, stampOf } from './private-file.ts';

const limit = { maxBytes: 10 };

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-private-'));
  return { folder, path: join(folder, 'x'), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

describe('private files', () => {
  test('are created once, replaced as a whole, and 0600 whatever the umask', () => {
    using place = scratch();
    const mask = process.umask(0);
    try {
      assert.equal(readPrivateFile(place.path, limit), undefined);
      assert.equal(createPrivateFile(place.path, 'one'), true);
      assert.equal(createPrivateFile(place.path, 'two'), false);
      assert.equal(readPrivateFile(place.path, limit)?.text, 'one');
      replacePrivateFile(place.path, 'three');
      assert.equal(readPrivateFile(place.path, limit)?.text, 'three');
      assert.equal(statSync(place.path).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(place.folder), ['x']);
    } finally {
      process.umask(mask);
    }
  });

  test('have a stamp that changes with them', () => {
    using place = scratch();
    const missing = stampOf(place.path);
    createPrivateFile(place.path, 'one');
    const first = stampOf(place.path);
    assert.equal(readPrivateFile(place.path, limit)?.stamp, first);
    replacePrivateFile(place.path, 'two');
    const second = stampOf(place.path);
    assert.equal(new Set([missing, first, second]).size, 3);
    assert.equal(stampOf(join(place.path, 'below')), 'ENOTDIR');
  });

  test('are read up to the limit and not written where that is impossible', () => {
    using place = scratch();
    writeFileSync(place.path, 'x'.repeat(10), { mode: 0o600 });
    assert.equal(readPrivateFile(place.path, limit)?.text.length, 10);
    writeFileSync(place.path, 'x'.repeat(11));
    assert.throws(() => readPrivateFile(place.path, limit), { code: 'E_FILE_IO' });
    const missing = join(place.folder, 'missing', 'x');
    assert.throws(() => createPrivateFile(missing, 'one'), { code: 'E_FILE_IO', message: /cannot be written/ });
  });

  test('replace a link instead of following it', () => {
    using place = scratch();
    const target = join(place.folder, 'target');
    symlinkSync(target, place.path);
    assert.equal(createPrivateFile(place.path, 'one'), false);
    assert.throws(() => readPrivateFile(place.path, limit), { code: 'E_POLICY', message: /symbolic link/ });
    replacePrivateFile(place.path, 'one');
    assert.deepEqual(readdirSync(place.folder), ['x']);
    assert.equal(readPrivateFile(place.path, limit)?.text, 'one');
  });
});
