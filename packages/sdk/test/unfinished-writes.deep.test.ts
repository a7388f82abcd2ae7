/**
 * What a killed write leaves behind is seen by no tool, is never committed, and is gone after the next start or write.
 *
 * `walk` is the back end without native calls: there a file has a temporary name from the beginning.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isTemporaryName } from '../src/contracts/path-text.ts';
import { temporaryName } from '../src/platform/files/temporary-file.ts';
import { createRuntime } from '../src/runtime.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const CHILD = new URL('./unfinished-child.ts', import.meta.url).pathname;
const KILLS = Number(process.env['UNFINISHED_KILLS'] ?? 3);
const SEED = 20_261_116;

function leftIn(workspace: string): readonly string[] {
  return readdirSync(workspace, { recursive: true, encoding: 'utf8' }).filter((path) =>
    isTemporaryName(basename(path)),
  );
}

function notesIn(state: string): readonly string[] {
  return existsSync(join(state, 'unfinished')) ? readdirSync(join(state, 'unfinished')) : [];
}

/** Kills a process in the middle of its work after a while; answers what lies around then. */
async function killWriter(
  workspace: string,
  state: string,
  { backend, afterMs }: { readonly backend: string; readonly afterMs?: number },
): Promise<number> {
  const until = afterMs === undefined ? 'seen' : 'killed';
  const words = ['-C', 'tool-runtime-source', CHILD, workspace, state, backend, until];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  if (afterMs !== undefined) {
    await wait(afterMs);
    child.kill('SIGKILL');
  }
  await exited;
  return leftIn(workspace).length;
}

/** The same numbers for the same seed. */
function delays(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 5 + (value % 200);
  };
}

async function scene(t: TestContext) {
  const registry = { file: 'large.yaml', text: 'version: 1\nlimits: { max_request_bytes: 67108864 }\n' };
  const scratch = await openScratchRuntime({ registry });
  t.after(scratch.dispose);
  const { session, workspace, state } = scratch;
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: workspace, encoding: 'utf8' });
  for (const at of Array.from({ length: 60 }, (_, index) => index)) {
    mkdirSync(join(workspace, `tree/${at % 7}/in`), { recursive: true });
    writeFileSync(join(workspace, `tree/${at % 7}/in/${at}.txt`), `needle ${at}\n`);
  }
  mkdirSync(join(workspace, 'w/deep/er'), { recursive: true });
  writeFileSync(join(workspace, 'w/real.txt'), 'needle\n');
  git('init', '-q');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.invalid');
  const ask = async (tool: string, args: object): Promise<string> => {
    const { ok, data, errors } = await session.call(tool, args as never);
    assert.deepEqual(errors, [], tool);
    assert.ok(ok);
    return JSON.stringify(data);
  };
  return { workspace, state, git, ask };
}

/** As a process leaves it that died: the same name with another start time. */
function deadName(): string {
  return temporaryName().replace(/-tmp-(\d+)-\d+-/, '-tmp-$1-1-');
}

for (const backend of ['auto', 'walk']) {
  test(`writers killed at random points in deep folders leave nothing after the next start (${backend})`, async (t) => {
    const { workspace } = await scene(t);
    const state = mkdtempSync(join(tmpdir(), 'killed-state-'));
    t.after(() => rmSync(state, { recursive: true, force: true }));
    const nextDelay = delays(SEED);
    let left = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      left += await killWriter(workspace, state, { backend, afterMs: nextDelay() });
      const runtime = await createRuntime({ workspace, state });
      try {
        assert.deepEqual(leftIn(workspace), []);
        assert.deepEqual(notesIn(state), [], 'nothing is left to work off');
      } finally {
        await runtime.close();
      }
    }
    t.diagnostic(`${left} names lay around after the kills`);
  });
}

test('while another process lives, the next write anywhere clears away what a killed one left', async (t) => {
  const { workspace, state, ask } = await scene(t);
  assert.notEqual(await killWriter(workspace, state, { backend: 'walk' }), 0);
  while (leftIn(workspace).length > 0) {
    await ask('file_write', { path: 'elsewhere.txt', content: 'x' });
    await wait(20);
  }
});

test('no tool shows what a killed write left, and git takes none of it', async (t) => {
  const { workspace, git, ask } = await scene(t);
  const file = join(workspace, 'w/deep/er', deadName());
  const tree = join(workspace, 'w', deadName());
  writeFileSync(file, 'xxx');
  mkdirSync(join(tree, 'in'), { recursive: true });
  writeFileSync(join(tree, 'in/file.txt'), 'xxx');
  rmSync(join(workspace, 'tree'), { recursive: true });
  assert.match(git('status', '--porcelain', '--untracked-files=all'), /tool-runtime-tmp/, 'git itself sees it');
  const looks: readonly (readonly [string, object])[] = [
    ['git_status', {}],
    ['fs_list', { glob: '**', include_hidden: true, include_ignored: true }],
    ['fs_tree', { include_hidden: true, include_ignored: true }],
    ['grep', { pattern: 'xxx', include_hidden: true, include_ignored: true }],
    ['git_add', { paths: ['.'] }],
    ['git_add', { paths: ['w/**'], force: true }],
    ['git_status', {}],
  ];
  for (const [tool, args] of looks) assert.doesNotMatch(await ask(tool, args), /tool-runtime-tmp/, tool);
  assert.equal(git('diff', '--cached', '--name-only').trim(), 'w/real.txt');
  await ask('git_commit', { message: 'Add a file' });
  assert.equal(git('ls-tree', '-r', '--name-only', 'HEAD').trim(), 'w/real.txt');
  writeFileSync(join(workspace, 'new.txt'), 'new\n');
  await ask('git_stash', { action: 'push', include_untracked: true });
  assert.equal(git('ls-tree', '-r', '--name-only', 'stash@{0}^3').trim(), 'new.txt');
  assert.ok(existsSync(file) && existsSync(tree));
});

test('a write removes leftovers of dead owners at once, nameless ones when they are old, and no others', async (t) => {
  const { workspace, ask } = await scene(t);
  const place = (name: string): string => join(workspace, 'w', name);
  const [dead, old, young, foreign] = [
    deadName(),
    '.tool-runtime-tmp-0123456789ab',
    '.tool-runtime-tmp-ba9876543210',
    '.tool-runtime-tmp-x',
  ];
  const live = temporaryName();
  for (const name of [dead, old, young, foreign, live]) writeFileSync(place(name), 'left');
  const before = Date.now() / 1000 - 3600;
  for (const name of [old, foreign]) utimesSync(place(name), before, before);
  await ask('file_write', { path: 'w/new.txt', content: 'x' });
  while (existsSync(place(old)) || existsSync(place(dead))) await wait(5);
  const expected = [young, foreign, live, 'deep', 'new.txt', 'real.txt'];
  assert.deepEqual(readdirSync(join(workspace, 'w')).sort(), expected.sort());
});

test('a new file has no name before it is whole, and neither has one that replaces another', async (t) => {
  const { workspace, ask } = await scene(t);
  const seen = new Set<string>();
  for (const content of ['x', 'y']) {
    let isOver = false;
    const writing = ask('file_write', { path: 'w/big.txt', content: content.repeat(30_000_000) }).finally(() => {
      isOver = true;
    });
    for (; !isOver; await new Promise(setImmediate)) for (const name of leftIn(workspace)) seen.add(name);
    await writing;
  }
  assert.deepEqual([...seen], []);
});
