import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TEMPORARY_PREFIX } from '../contracts/temporary-name.ts';
import { DIRECTORY_HANDLE } from './open-flags.ts';
import { createTemporaryFile } from './temporary-file.ts';

test('S0-31 a temporary name that somebody guessed and made first is not written to, a free one is', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'temporary-'));
  const dirFd = openSync(directory, DIRECTORY_HANDLE);
  t.after(() => {
    closeSync(dirFd);
    rmSync(directory, { recursive: true, force: true });
  });
  const guessed = t.mock.method(crypto, 'randomUUID', () => '00000000-0000-4000-8000-000000000000');
  syncBuiltinESMExports();
  const planted = join(directory, `${TEMPORARY_PREFIX}000000000000`);
  writeFileSync(planted, 'planted');
  assert.throws(() => createTemporaryFile(dirFd, 0o644, undefined), { code: 'EEXIST' });
  assert.equal(guessed.mock.callCount(), 1);
  assert.equal(readFileSync(planted, 'utf8'), 'planted');
  rmSync(planted);
  createTemporaryFile(dirFd, 0o644, undefined).discard();
  guessed.mock.restore();
  syncBuiltinESMExports();
});
