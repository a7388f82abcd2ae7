/** What appears in a tree after it was looked at: copying checks each name again. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDisk } from '../descriptors/disk.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { createGoverningFiles } from '../protection/governing-files.ts';
import { copyTree } from './copy-entry.ts';
import type { Survey } from './survey-tree.ts';

interface Scene {
  readonly from: string;
  readonly to: string;
  copy(): Promise<Survey>;
}

function scene(t: TestContext): Scene {
  const base = mkdtempSync(join(tmpdir(), 'copy-tree-'));
  const [from, to] = [join(base, 'from'), join(base, 'to')];
  mkdirSync(join(from, 'sub'), { recursive: true });
  mkdirSync(to);
  const held = [from, to].map((folder) => openSync(folder, DIRECTORY_HANDLE));
  t.after(() => {
    for (const fd of held) closeSync(fd);
    rmSync(base, { recursive: true, force: true });
  });
  const rules = {
    disk: createDisk(),
    guard: createGoverningFiles(),
    spelling: 'from',
    preserveMode: false,
    signal: undefined,
  };
  return { from, to, copy: () => copyTree(held[0] ?? -1, held[1] ?? -1, rules) };
}

test('a protected name that appears meanwhile stops the copy, a similar one is copied [S0-34]', async (t) => {
  const hostile = scene(t);
  mkdirSync(join(hostile.from, 'sub/.git'));
  await assert.rejects(hostile.copy(), { code: 'E_POLICY', message: 'Path is protected: from/sub/.git' });
  assert.deepEqual(readdirSync(join(hostile.to, 'sub')), []);
  const twin = scene(t);
  mkdirSync(join(twin.from, 'sub/git'));
  await twin.copy();
  assert.deepEqual(readdirSync(join(twin.to, 'sub')), ['git']);
});

test('a pipe that appears meanwhile stops the copy, a link is copied as text [S0-28]', async (t) => {
  const hostile = scene(t);
  execFileSync('mkfifo', [join(hostile.from, 'sub/pipe')]);
  await assert.rejects(hostile.copy(), {
    code: 'E_FILE_IO',
    message: 'Not a file, folder or link: from/sub/pipe',
  });
  const twin = scene(t);
  writeFileSync(join(twin.from, 'sub/file'), 'x');
  symlinkSync('/outside', join(twin.from, 'sub/link'));
  await twin.copy();
  assert.deepEqual(readdirSync(join(twin.to, 'sub')), ['file', 'link']);
});
