import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { GitFiles } from '../../contracts/git.ts';
import { createGitFiles } from './git-files.ts';

async function withFiles(use: (files: GitFiles, gitDir: string) => Promise<void>): Promise<void> {
  const beside = mkdtempSync(join(tmpdir(), 'tool-runtime-git-files-'));
  const gitDir = join(beside, '.git');
  mkdirSync(join(gitDir, 'refs'), { recursive: true });
  const folders = { gitDir, commonDir: gitDir, outside: [] };
  const writes = { begin: async () => ({ end: async () => {} }) };
  try {
    await use(
      createGitFiles(() => folders, { writes, durability: 'normal' }),
      gitDir,
    );
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

test('a file is read whole, however large it is', () =>
  withFiles(async (files, gitDir) => {
    for (const size of [0, 1, 100_000, 4 * 1024 * 1024 + 1, 9_000_000]) {
      const bytes = Buffer.alloc(size, 'index');
      writeFileSync(join(gitDir, 'index'), bytes);
      assert.equal((await files.read('index'))?.equals(bytes), true, `${size} bytes`);
    }
  }));

test('what is no file of its own counts as none', () =>
  withFiles(async (files, gitDir) => {
    writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
    symlinkSync('HEAD', join(gitDir, 'link'));
    for (const name of ['missing', 'HEAD/below', 'refs', 'link']) assert.equal(await files.read(name), undefined, name);
  }));

test('a name that leads out of the git folder is refused', () =>
  withFiles(async (files, gitDir) => {
    writeFileSync(join(gitDir, '..', 'outside'), 'secret');
    symlinkSync('..', join(gitDir, 'heads'));
    for (const name of ['../outside', 'heads/outside', '/etc/hostname']) {
      await assert.rejects(files.read(name), (thrown) => isToolError(thrown) && thrown.code === 'E_POLICY', name);
    }
    await assert.rejects(files.read('a\0b'), isToolError);
  }));
