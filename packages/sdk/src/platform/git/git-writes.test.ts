import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findGitLocks, holderOf } from './git-locks.ts';
import { clearWorkspaceLocks, createGitWrites } from './git-writes.ts';

const LOCKS = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'refs/heads/main.lock', 'refs/heads/a/b.lock'];

function scene(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-writes-')));
  const state = join(folder, 'state');
  const work = join(folder, 'work');
  const gitFolder = join(work, '.git');
  mkdirSync(state, { mode: 0o700 });
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main', work);
  mkdirSync(join(gitFolder, 'refs/heads/a'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(gitFolder, name);
  const plant = (name: string): void => writeFileSync(at(name), '', { flag: 'wx' });
  return { state, work, gitFolder, at, plant, notes: join(state, 'git-writes') };
}

type Scene = ReturnType<typeof scene>;

/** Begins a write in a process of its own, makes the locks, and is killed. */
async function dieWriting({ state, gitFolder, at }: Scene, locks: readonly string[]): Promise<void> {
  const script = `
    import { writeFileSync } from 'node:fs';
    import { createGitWrites } from ${JSON.stringify(new URL('./git-writes.ts', import.meta.url))};
    await createGitWrites(${JSON.stringify(state)}).begin([${JSON.stringify(gitFolder)}]);
    for (const path of ${JSON.stringify(locks.map(at))}) writeFileSync(path, '');
    process.kill(process.pid, 'SIGKILL');
  `;
  const words = ['-C', 'tool-runtime-source', '--input-type=module', '-e', script];
  const [, signal] = await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit');
  assert.equal(signal, 'SIGKILL');
}

async function ready(child: ChildProcess): Promise<void> {
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
}

test('locks made during the run of a process that died are removed before the next write', async (t) => {
  const here = scene(t);
  await dieWriting(here, LOCKS);
  assert.deepEqual(
    LOCKS.filter((name) => !existsSync(here.at(name))),
    [],
  );
  const write = await createGitWrites(here.state).begin([here.gitFolder]);
  assert.deepEqual(
    LOCKS.filter((name) => existsSync(here.at(name))),
    [],
  );
  assert.equal(readdirSync(here.notes).length, 1, 'the dead run is forgotten, the new one is on record');
  await write.end(true);
  assert.deepEqual(readdirSync(here.notes), []);
});

test('a lock from before the run, one from long after it, and one of another repository stay', async (t) => {
  const here = scene(t);
  const other = scene(t);
  here.plant('HEAD.lock');
  other.plant('HEAD.lock');
  await wait(50);
  await dieWriting(here, []);
  const [note = ''] = readdirSync(here.notes);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(join(here.notes, note), hourAgo, hourAgo);
  here.plant('index.lock');
  await createGitWrites(here.state).clear(here.gitFolder);
  await createGitWrites(here.state).clear(other.gitFolder);
  assert.ok(existsSync(here.at('HEAD.lock')) && existsSync(here.at('index.lock')) && existsSync(other.at('HEAD.lock')));
});

test('a lock of unknown origin stays and is reported', async (t) => {
  const here = scene(t);
  here.plant('index.lock');
  const left = await clearWorkspaceLocks(here.state, here.work);
  assert.deepEqual(
    left.map(({ path }) => path),
    [here.at('index.lock')],
  );
  assert.deepEqual(await clearWorkspaceLocks(here.state, tmpdir()), [], 'no repository, no locks');
});

test('a lock that a live process has open stays, and goes when the process is dead (deep)', async (t) => {
  const here = scene(t);
  await dieWriting(here, []);
  const script = `require('node:fs').openSync(${JSON.stringify(here.at('index.lock'))}, 'wx'); console.log('holds');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(holder);
  const writes = createGitWrites(here.state);
  assert.deepEqual(await writes.clear(here.gitFolder), []);
  const [lock = assert.fail()] = findGitLocks(here.gitFolder);
  assert.equal(holderOf(lock, here.gitFolder)?.pid, holder.pid);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  assert.deepEqual(await writes.clear(here.gitFolder), [here.at('index.lock')]);
});

test('the lock of a git that waits for its editor stays, although the file is closed (deep)', async (t) => {
  const here = scene(t);
  await dieWriting(here, []);
  writeFileSync(join(here.work, 'a.txt'), 'a');
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
  execFileSync('git', [...identity, 'add', 'a.txt'], { cwd: here.work });
  const words = [...identity, '-c', 'core.editor=echo edits; sleep 1000;:', 'commit', 'a.txt'];
  const editing = spawn('git', words, { cwd: here.work, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  await ready(editing);
  assert.ok(existsSync(here.at('index.lock')));
  const writes = createGitWrites(here.state);
  assert.deepEqual(await writes.clear(here.gitFolder), []);
  assert.ok(existsSync(here.at('index.lock')));
  process.kill(-(editing.pid ?? assert.fail()), 'SIGKILL');
  await once(editing, 'exit');
  await writes.clear(here.gitFolder);
  assert.deepEqual(findGitLocks(here.gitFolder), []);
});

test('locks made while a live process has a write open stay', async (t) => {
  const here = scene(t);
  const write = await createGitWrites(here.state).begin([here.gitFolder]);
  here.plant('index.lock');
  const script = `
    import { createGitWrites } from ${JSON.stringify(new URL('./git-writes.ts', import.meta.url))};
    console.log((await createGitWrites(${JSON.stringify(here.state)}).clear(${JSON.stringify(here.gitFolder)})).length);
  `;
  const words = ['-C', 'tool-runtime-source', '--input-type=module', '-e', script];
  assert.equal(execFileSync(process.execPath, words, { encoding: 'utf8' }), '0\n');
  assert.ok(existsSync(here.at('index.lock')));
  await write.end(true);
  assert.ok(existsSync(here.at('index.lock')), 'a git that ended by itself left no lock: this one is not its own');
});

test('a git that was killed while its owner lives leaves no lock either', async (t) => {
  const here = scene(t);
  here.plant('HEAD.lock');
  await wait(50);
  const write = await createGitWrites(here.state).begin([here.gitFolder]);
  here.plant('index.lock');
  await write.end(false);
  assert.deepEqual([existsSync(here.at('index.lock')), existsSync(here.at('HEAD.lock'))], [false, true]);
  assert.deepEqual(readdirSync(here.notes), []);
});
