/** What a killed write leaves behind is seen by no tool, is never committed, and is removed by a later write. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isTemporaryName } from '../src/contracts/temporary-name.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const RUNTIME = fileURLToPath(new URL('../src/runtime.ts', import.meta.url));
const SUBFOLDERS = ['w', 'w/deep/er'];

/** A large write in a process of its own, which kills itself as soon as it sees its temporary file. */
async function killInTheMiddle(workspace: string, folder: string): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), 'killed-state-'));
  const place = join(workspace, folder);
  const script = `
    import { readdirSync } from 'node:fs';
    import { createRuntime } from ${JSON.stringify(RUNTIME)};
    const runtime = await createRuntime({ workspace: ${JSON.stringify(workspace)}, state: ${JSON.stringify(state)} });
    const session = await runtime.openSession({});
    const look = () => {
      const isWriting = readdirSync(${JSON.stringify(place)}).some((name) => name.startsWith('.tool-runtime-tmp-'));
      if (isWriting) process.kill(process.pid, 'SIGKILL');
      setImmediate(look);
    };
    look();
    await session.call('file_write', { path: ${JSON.stringify(`${folder}/big.txt`)}, content: 'x'.repeat(30_000_000) });
  `;
  const words = ['-C', 'tool-runtime-source', '--input-type=module', '-e', script];
  const child = spawn(process.execPath, words, { stdio: 'ignore', cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  rmSync(state, { recursive: true, force: true });
  assert.equal(signal, 'SIGKILL');
  const [name = assert.fail('nothing was left')] = readdirSync(place).filter(isTemporaryName);
  return join(place, name);
}

async function scene(t: TestContext) {
  const scratch = await openScratchRuntime();
  t.after(scratch.dispose);
  const { session, workspace } = scratch;
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: workspace, encoding: 'utf8' });
  for (const folder of SUBFOLDERS) mkdirSync(join(workspace, folder), { recursive: true });
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
  return { workspace, git, ask };
}

test('a write killed in a subfolder leaves nothing that a tool shows or git takes', async (t) => {
  const { workspace, git, ask } = await scene(t);
  const leftovers: string[] = [];
  for (const folder of SUBFOLDERS) leftovers.push(await killInTheMiddle(workspace, folder));
  for (const path of leftovers) assert.ok(existsSync(path), 'the kill left a file behind');
  assert.match(git('status', '--porcelain', '--untracked-files=all'), /tool-runtime-tmp/, 'git itself sees it');
  const looks: readonly (readonly [string, object])[] = [
    ['git_status', {}],
    ['fs_list', { glob: '**', include_hidden: true, include_ignored: true }],
    ['grep', { pattern: 'xxx', include_hidden: true, include_ignored: true }],
    ['git_add', { paths: ['.'] }],
    ['git_add', { paths: ['w/**'], force: true }],
    ['git_status', {}],
  ];
  for (const [tool, args] of looks) assert.doesNotMatch(await ask(tool, args), /tool-runtime-tmp/, tool);
  assert.equal(git('diff', '--cached', '--name-only').trim(), 'w/real.txt');
  await ask('git_commit', { message: 'Add a file' });
  assert.equal(git('ls-tree', '-r', '--name-only', 'HEAD').trim(), 'w/real.txt');
});

test('the next write into the folder removes old leftovers, and no others', async (t) => {
  const { workspace, ask } = await scene(t);
  const place = (name: string): string => join(workspace, 'w', name);
  const [old, young, foreign] = [
    '.tool-runtime-tmp-0123456789ab',
    '.tool-runtime-tmp-ba9876543210',
    '.tool-runtime-tmp-x',
  ];
  for (const name of [old, young, foreign]) writeFileSync(place(name), 'left');
  const before = Date.now() / 1000 - 3600;
  for (const name of [old, foreign]) utimesSync(place(name), before, before);
  await ask('file_write', { path: 'w/new.txt', content: 'x' });
  while (existsSync(place(old))) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(readdirSync(join(workspace, 'w')).sort(), [young, foreign, 'deep', 'new.txt', 'real.txt'].sort());
});
