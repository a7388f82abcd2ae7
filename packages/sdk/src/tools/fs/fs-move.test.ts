import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256Hex } from '../../platform/digest.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsMove } from './fs-move.ts';

async function scene(t: TestContext) {
  const { session, runtime, workspace, dispose } = await openScratchRuntime();
  t.after(dispose);
  mkdirSync(join(workspace, 'src/inner'), { recursive: true });
  writeFileSync(join(workspace, 'src/inner/file'), 'héllo');
  writeFileSync(join(workspace, 'note'), 'note');
  return { workspace, runtime, call: (args: Record<string, unknown>) => session.call('fs_move' as string, args) };
}

test('fs_move moves files and folders and says how much and what was replaced [S0-27]', async (t) => {
  const { workspace, call } = await scene(t);
  const folder = await call({ src: 'src', dst: 'new' });
  assert.deepEqual(folder.data, { moved: true, entries: 3, bytes: 6, replaced: false });
  const file = await call({ src: 'note', dst: 'new/inner/file', overwrite: true });
  assert.deepEqual(file.data, { moved: true, entries: 1, bytes: 4, replaced: true });
  assert.equal(readFileSync(join(workspace, 'new/inner/file'), 'utf8'), 'note');
  const same = await call({ src: 'new/', dst: './new' });
  assert.deepEqual(same.data, { moved: false, entries: 0, bytes: 0, replaced: false });
});

test('fs_move refuses an existing target without overwrite and makes folders only when told to [S0-27]', async (t) => {
  const { workspace, call } = await scene(t);
  for (const [args, message] of [
    [{ src: 'note', dst: 'src/inner/file' }, 'Target exists already: src/inner/file'],
    [{ src: 'note', dst: 'a/b' }, 'Folder not found: a'],
    [{ src: 'missing', dst: 'b' }, 'File not found: missing'],
    [{ src: 'src', dst: 'src/inner/src' }, 'A folder cannot go into itself: src/inner/src'],
    [{ src: 'note', dst: 'src', overwrite: true }, 'A folder and a file cannot replace each other: src'],
  ] as const) {
    const { ok, errors } = await call(args);
    assert.deepEqual([ok, errors[0]?.code, errors[0]?.message], [false, 'E_FILE_IO', message]);
  }
  assert.ok(existsSync(join(workspace, 'note')) && !existsSync(join(workspace, 'a')));
  assert.equal((await call({ src: 'note', dst: 'a/b', create_dirs: true })).ok, true);
});

test('fs_move refuses both paths by policy when they leave, are the root or git data, and moves their twins [S0-34]', async (t) => {
  const { workspace, call } = await scene(t);
  mkdirSync(join(workspace, 'repository/.git'), { recursive: true });
  symlinkSync('..', join(workspace, 'leak'));
  for (const path of ['../x', '/tmp/x', 'leak/x', '.', '.git', '.git/config', 'repository', 'tool-runtime.yaml']) {
    for (const args of [
      { src: path, dst: 'free' },
      { src: 'note', dst: path, overwrite: true },
    ]) {
      if (path === 'repository' && args.src === 'note') continue;
      const { errors } = await call(args);
      assert.equal(errors[0]?.code, 'E_POLICY', JSON.stringify(args));
    }
  }
  assert.equal((await call({ src: 'leak', dst: 'moved-link' })).ok, true);
  assert.equal((await call({ src: 'note', dst: '.github' })).ok, true);
});

test('fs_move takes the usual other names of its arguments and records both paths [S0-27]', async (t) => {
  const { runtime, call } = await scene(t);
  assert.equal((await call({ source: 'src', destination: 'a' })).ok, true);
  assert.equal((await call({ from: 'a', to: 'b' })).ok, true);
  assert.equal((await call({ from: 'b/inner/file', target: 'c' })).ok, true);
  const files = [...runtime.records({ kind: 'result' })].map((record) => record.kind === 'result' && record.files);
  const sha256 = sha256Hex('héllo');
  assert.deepEqual(files, [
    [
      { path: 'src', before: 'folder', after: null },
      { path: 'a', before: null, after: 'folder' },
    ],
    [
      { path: 'a', before: 'folder', after: null },
      { path: 'b', before: null, after: 'folder' },
    ],
    [
      { path: 'b/inner/file', before: sha256, after: null },
      { path: 'c', before: null, after: sha256 },
    ],
  ]);
});

test('of two moves of one folder at once exactly one finds it, by whatever spelling [S0-27 S0-76]', async (t) => {
  const { workspace, call } = await scene(t);
  symlinkSync('.', join(workspace, 'here'));
  const answers = await Promise.all([call({ src: 'src', dst: 'a' }), call({ src: 'here/src/', dst: 'b' })]);
  assert.deepEqual(answers.map(({ ok }) => ok).sort(), [false, true]);
  assert.equal(answers.find(({ ok }) => !ok)?.errors[0]?.message.startsWith('File not found: '), true);
});

test('fs_move defaults to keeping what is at the target [S0-27]', () => {
  assert.deepEqual(fsMove.args.parse({ src: 'a', dst: 'b' }), {
    src: 'a',
    dst: 'b',
    overwrite: false,
    create_dirs: false,
  });
  assert.ok(!fsMove.args.safeParse({ src: 'a' }).success);
  assert.ok(!fsMove.args.safeParse({ src: 'a', dst: 'b', force: true }).success);
  assert.deepEqual([fsMove.annotations?.kind, fsMove.risk, fsMove.effect], ['move', 'medium', 'write']);
});
