import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { plainRename } from '../descriptors/rename-entry.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { createTemporaryFile, temporaryName } from './temporary-file.ts';

const NAMED = { rename: plainRename, linkFile: undefined, noteFolder: undefined };

test('a temporary name that another program made first is not written to, a free one is [S0-31]', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'temporary-'));
  const dirFd = openSync(directory, DIRECTORY_HANDLE);
  t.after(() => {
    closeSync(dirFd);
    rmSync(directory, { recursive: true, force: true });
  });
  const guessed = t.mock.method(crypto, 'randomUUID', () => '00000000-0000-4000-8000-000000000000');
  syncBuiltinESMExports();
  const planted = join(directory, temporaryName());
  writeFileSync(planted, 'planted');
  assert.throws(() => createTemporaryFile(dirFd, NAMED, { mode: 0o644 }), { code: 'EEXIST' });
  assert.equal(readFileSync(planted, 'utf8'), 'planted');
  rmSync(planted);
  createTemporaryFile(dirFd, NAMED, { mode: 0o644 }).discard();
  guessed.mock.restore();
  syncBuiltinESMExports();
});
