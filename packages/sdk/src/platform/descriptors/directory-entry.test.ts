import assert from 'node:assert/strict';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { openSubdirectory, statEntry } from './directory-entry.ts';

function held(t: TestContext): { readonly directory: string; readonly dirFd: number } {
  const base = mkdtempSync(join(tmpdir(), 'entry-'));
  const directory = join(base, 'inside');
  mkdirSync(directory);
  writeFileSync(join(base, 'outside'), 'secret');
  const dirFd = openSync(directory, DIRECTORY_HANDLE);
  t.after(() => {
    closeSync(dirFd);
    rmSync(base, { recursive: true, force: true });
  });
  return { directory, dirFd };
}

test('a name that is a path is refused before the file system sees it, a name with dots is not [S0-14]', (t) => {
  const { directory, dirFd } = held(t);
  for (const name of ['', '.', '..', '../outside', 'a/b', '/', 'a\0b', Buffer.from('../outside')]) {
    assert.throws(() => statEntry({ dirFd, name }), TypeError, String(name));
  }
  assert.throws(() => statEntry({ dirFd: -1, name: 'plain' }), TypeError);
  for (const name of ['...', '..a', 'a..', Buffer.from('plain')]) {
    writeFileSync(join(directory, name.toString()), '');
    assert.equal(statEntry({ dirFd, name })?.isFile(), true, String(name));
  }
});

test('a folder below is opened as itself and never through a link [S0-14]', (t) => {
  const { directory, dirFd } = held(t);
  mkdirSync(join(directory, 'folder'));
  symlinkSync('..', join(directory, 'link'));
  assert.throws(() => openSubdirectory({ dirFd, name: 'link' }), { code: /^(?:ENOTDIR|ELOOP)$/ });
  closeSync(openSubdirectory({ dirFd, name: 'folder' }));
});
