import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { ensureBuilt } from '../../../test/ensure-built.ts';
import { createScratch, FROM_BIN, runCli, type Scratch } from '../../../test/run-cli.ts';

const TOKEN = ['gh', 'p_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('');

before(() => ensureBuilt());

function repository(scratch: Scratch): (...words: string[]) => string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: scratch.workspace, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  scratch.write('tool-runtime.yaml', 'version: 1\nvalidators:\n  - rule: secrets.scan\n');
  git('add', '.');
  git('commit', '-q', '-m', 'chore: begin');
  return git;
}

function commit(scratch: Scratch, ...words: string[]) {
  return spawnSync('git', ['commit', '-q', ...words], { cwd: scratch.workspace, encoding: 'utf8' });
}

describe('tool-runtime hook [S0-67]', () => {
  test('a planted token blocks a plain git commit, and a harmless one passes [S0-67] (deep)', async () => {
    using scratch = createScratch();
    const git = repository(scratch);
    const installed = await runCli(['hook', 'install', ...scratch.options], { program: FROM_BIN });
    assert.deepEqual([installed.code, installed.stdout], [0, 'installed pre-commit, commit-msg\n']);
    scratch.write('config.txt', `key = ${TOKEN}\n`);
    git('add', 'config.txt');
    const blocked = commit(scratch, '-m', 'feat: config');
    assert.notEqual(blocked.status, 0);
    assert.match(blocked.stdout + blocked.stderr, /secrets\.scan/);
    assert.ok(!(blocked.stdout + blocked.stderr).includes(TOKEN));
    scratch.write('config.txt', 'key = from the environment\n');
    git('add', 'config.txt');
    const passed = commit(scratch, '-m', 'feat: config');
    assert.equal(passed.status, 0, passed.stdout + passed.stderr);
  });

  test('judges the very index that is committed: git commit -a and a single path [S0-67] (deep)', async () => {
    using scratch = createScratch();
    const git = repository(scratch);
    await runCli(['hook', 'install', ...scratch.options], { program: FROM_BIN });
    scratch.write('a.txt', 'fine\n');
    scratch.write('b.txt', 'fine\n');
    git('add', '.');
    assert.equal(commit(scratch, '-m', 'feat: files').status, 0);
    scratch.write('a.txt', `key = ${TOKEN}\n`);
    scratch.write('b.txt', 'better\n');
    assert.notEqual(commit(scratch, '-a', '-m', 'feat: all').status, 0, 'commit -a takes the token along');
    const single = commit(scratch, '-m', 'feat: one', 'b.txt');
    assert.equal(single.status, 0, `only b.txt is committed: ${single.stdout}${single.stderr}`);
    assert.notEqual(commit(scratch, '-m', 'feat: other', 'a.txt').status, 0);
  });

  test('keeps a hook of another tool, and removes only its own', async () => {
    using scratch = createScratch();
    const git = repository(scratch);
    const hooks = join(scratch.workspace, git('rev-parse', '--git-path', 'hooks').trim());
    mkdirSync(hooks, { recursive: true });
    const own = join(hooks, 'pre-commit');
    writeFileSync(own, '#!/bin/sh\nexit 0\n');
    chmodSync(own, 0o755);
    const refused = await runCli(['hook', 'install', ...scratch.options]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /pre-commit/);
    assert.equal(readFileSync(own, 'utf8'), '#!/bin/sh\nexit 0\n');
    assert.ok(!existsSync(join(hooks, 'commit-msg')));
    assert.equal((await runCli(['hook', 'uninstall', ...scratch.options])).stdout, 'nothing removed\n');
    assert.ok(existsSync(own));
  });

  test('ends with 2 where there is no repository', async () => {
    using scratch = createScratch();
    assert.equal((await runCli(['hook', 'install', ...scratch.options])).code, 2);
  });
});
