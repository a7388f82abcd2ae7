/**
 * Hosts killed with SIGKILL while their git holds locks, again and again, in one repository: every later commit succeeds.
 * A lock of a git that this runtime did not start stays, and the refusal says who holds it or what to do.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findGitLocks } from '../src/platform/git/git-locks.ts';
import { createRuntime } from '../src/runtime.ts';
import { createRepository, type TestRepository } from './git-repository.ts';

const CHILD = new URL('./git-lock-child.ts', import.meta.url).pathname;
const LOCKS = ['index.lock', 'HEAD.lock', 'refs/heads/main.lock'];
const ROUNDS = Number(process.env['GIT_LOCK_ROUNDS'] ?? 2);

/** On until a lock was left, but not for ever. */
const MOST_ROUNDS = 5;

/** Enough of an index that writing it takes a while. */
function plant(): TestRepository {
  const names = Array.from({ length: 4000 }, (_, at) => [`folder ${at % 50}/file ${at}.txt`, `${at}\n`]);
  return createRepository({ files: Object.fromEntries(names) });
}

async function runChild(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', CHILD, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await once(child, 'close');
  return said;
}

async function commit(workspace: string, state: string, text: string) {
  const runtime = await createRuntime({ workspace, state });
  try {
    const session = await runtime.openSession({});
    writeFileSync(join(workspace, 'w.txt'), text);
    const added = await session.call('git_add', { paths: ['w.txt'] });
    const committed = await session.call('git_commit', { message: 'chore: after it' });
    return { errors: [...added.errors, ...committed.errors], stale: await runtime.staleGitLocks() };
  } finally {
    await runtime.close();
  }
}

test('a host killed while git holds a lock never keeps a later commit from succeeding', async (t) => {
  const repository = plant();
  const state = mkdtempSync(join(tmpdir(), 'git-lock-state-'));
  t.after(() => {
    rmSync(state, { recursive: true, force: true });
    repository.dispose();
  });
  let left = 0;
  for (let round = 0; round < ROUNDS || (left === 0 && round < MOST_ROUNDS); round++) {
    const lock = LOCKS[round % LOCKS.length] ?? '';
    assert.doesNotMatch(await runChild([repository.folder, state, lock]), /failed/);
    left += findGitLocks(repository.path('.git')).length;
    const { errors, stale } = await commit(repository.folder, state, `after ${round}\n`);
    assert.deepEqual(errors, []);
    assert.deepEqual(stale, []);
    assert.equal(repository.git('show', 'HEAD:w.txt'), `after ${round}\n`);
  }
  t.diagnostic(`${left} locks were left behind`);
});

test('a lock of a git that this runtime did not start stays; the refusal names it and its holder', async (t) => {
  const repository = createRepository({ files: { 'a.txt': 'a\n' } });
  const state = mkdtempSync(join(tmpdir(), 'git-lock-state-'));
  t.after(() => {
    rmSync(state, { recursive: true, force: true });
    repository.dispose();
  });
  const lock = repository.path('.git/index.lock');
  writeFileSync(lock, '');
  const unknown = await commit(repository.folder, state, 'one\n');
  assert.equal(unknown.errors[0]?.details?.['reason'], 'locked');
  assert.match(String(unknown.errors[0]?.details?.['next']), /no running process holds the lock.*index\.lock/s);
  assert.deepEqual(unknown.stale, [lock]);
  assert.ok(existsSync(lock));
  rmSync(lock);

  repository.write({ 'a.txt': 'b\n' });
  const editor = 'core.editor=echo edits; sleep 1000;:';
  const words = ['-c', editor, 'commit', 'a.txt'];
  const git = spawn('git', words, { cwd: repository.folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  await once(git.stdout, 'data');
  const held = await commit(repository.folder, state, 'two\n');
  assert.match(String(held.errors[0]?.details?.['held_by']), new RegExp(`^git.*\\(${git.pid}\\)$`));
  assert.deepEqual(held.stale, []);
  assert.ok(existsSync(lock));
  process.kill(-(git.pid ?? assert.fail()), 'SIGKILL');
  await once(git, 'exit');
  rmSync(lock);
  repository.git('checkout', '--', 'a.txt');
  assert.deepEqual((await commit(repository.folder, state, 'three\n')).errors, []);
});
