import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { GitConfig, GitFiles } from '../contracts/git.ts';
import { hasPlainStore, treeBytes, writeObject } from './write-objects.ts';

function store(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'write-objects-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  git('init', '-q');
  const place = (name: string): string => join(folder, '.git', name);
  let writes = 0;
  const files = {
    async read(name: string) {
      try {
        return readFileSync(place(name));
      } catch {
        return undefined;
      }
    },
    async write(name: string, bytes: Uint8Array, options?: { readonly exclusive: boolean }) {
      writes += 1;
      mkdirSync(dirname(place(name)), { recursive: true });
      writeFileSync(place(name), bytes, { flag: options?.exclusive === true ? 'wx' : 'w' });
    },
  } as unknown as GitFiles;
  return { git, place, files, writes: () => writes };
}

const BLOB = { type: 'blob', bytes: Buffer.from('one\n') } as const;
const HASH = '5626abf0f72e58d7a153368ba57db4c673c0e171';
const NAME = 'objects/56/26abf0f72e58d7a153368ba57db4c673c0e171';

test('an object is what git reads, written once, and in the order git wants a tree', async (t) => {
  const { git, files, writes } = store(t);
  const hash = await writeObject(files, BLOB, 20);
  assert.deepEqual([hash, await writeObject(files, BLOB, 20), writes()], [HASH, HASH, 1]);
  assert.equal(git('cat-file', 'blob', hash), 'one');
  const inner = await writeObject(files, { type: 'tree', bytes: treeBytes([{ mode: '100644', name: 'x', hash }]) }, 20);
  const lines = ['b', 'a.b', 'a-b', 'a0'].map((name) => ({ mode: '100644', name, hash }));
  const bytes = treeBytes([...lines, { mode: '40000', name: 'a', hash: inner }]);
  const tree = await writeObject(files, { type: 'tree', bytes }, 20);
  assert.equal(git('ls-tree', '--name-only', tree), 'a-b\na.b\na\na0\nb');
  git('fsck', '--strict');
});

test('the bytes of an object are not led elsewhere by a link under its name [S0-51]', async (t) => {
  const { place, files } = store(t);
  mkdirSync(dirname(place(NAME)), { recursive: true });
  symlinkSync('../../config', place(NAME));
  const config = readFileSync(place('config'), 'utf8');
  await assert.rejects(writeObject(files, BLOB, 20));
  assert.equal(readFileSync(place('config'), 'utf8'), config);
});

test('objects and references are written only where git keeps both as plain files [S0-51]', () => {
  const isPlain = (settings: Readonly<Record<string, string>>) =>
    hasPlainStore({ get: (key: string) => settings[key] } as GitConfig);
  assert.equal(isPlain({}), true);
  assert.equal(isPlain({ 'extensions.refstorage': 'files', 'core.logallrefupdates': 'true' }), true);
  assert.equal(isPlain({ 'extensions.refstorage': 'reftable' }), false);
  assert.equal(isPlain({ 'core.sharedrepository': 'group' }), false);
  assert.equal(isPlain({ 'core.logallrefupdates': 'always' }), false);
});
