/** Under `full`, what programs wrote is on the disk before the call is answered: watched with strace. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const CHILD = new URL('./programs-sync-child.ts', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-sync-'));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

/** Answered calls in order, each with the folders that were synced as a whole before its answer. */
function answeredAfterSyncs(level: 'normal' | 'full'): ReadonlyMap<string, readonly string[]> {
  const workspace = join(scratch, level, 'work');
  mkdirSync(workspace, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: workspace });
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('checkout', '-q', '-b', 'other');
  writeFileSync(join(workspace, 'other.txt'), 'other');
  git('add', '.');
  git('commit', '-q', '-m', 'other');
  git('checkout', '-q', 'main');
  const trace = join(scratch, `${level}.trace`);
  const node = [process.execPath, '-C', 'tool-runtime-source', CHILD, workspace, join(scratch, level, 'state'), level];
  const options = ['-f', '-y', '-s', '200', '-e', 'signal=none', '-e', 'trace=syncfs,write', '-o', trace];
  const { stdout, stderr } = spawnSync('strace', [...options, ...node], { encoding: 'utf8' });
  assert.equal(stdout.match(/^ACK/gm)?.length, 3, stdout + stderr);

  const found = new Map<string, readonly string[]>();
  let synced: string[] = [];
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const folder = /syncfs\(\d+<([^>]*)>/.exec(line)?.[1];
    if (folder !== undefined) synced.push(folder);
    const tool = /write\(1<.*"ACK (\w+)/.exec(line)?.[1];
    if (tool === undefined) continue;
    found.set(tool, synced);
    synced = [];
  }
  return found;
}

test('a command and a checkout are synced before they are answered, a call that only reads is not', () => {
  const answered = answeredAfterSyncs('full');
  const workspace = join(scratch, 'full', 'work');
  assert.deepEqual([...answered.keys()], ['shell_exec', 'git_checkout', 'git_status']);
  assert.ok(answered.get('shell_exec')?.includes(workspace));
  assert.ok(answered.get('git_checkout')?.includes(workspace));
  assert.deepEqual(answered.get('git_status'), []);
});

test('nothing is synced as a whole under normal', () => {
  assert.deepEqual([...answeredAfterSyncs('normal').values()].flat(), []);
});
