import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsCopy } from './fs-copy.ts';

async function scene(t: TestContext) {
  const { session, workspace, dispose } = await openScratchRuntime();
  t.after(dispose);
  mkdirSync(join(workspace, 'src/inner'), { recursive: true });
  writeFileSync(join(workspace, 'src/inner/run'), 'héllo');
  chmodSync(join(workspace, 'src/inner/run'), 0o750);
  symlinkSync('inner/run', join(workspace, 'src/link'));
  writeFileSync(join(workspace, 'note'), 'note');
  return {
    workspace,
    modeOf: (path: string): number => statSync(join(workspace, path)).mode & 0o7777,
    call: (args: Record<string, unknown>) => session.call('fs_copy' as string, args),
  };
}

test('fs_copy copies files and whole folders, links as links, and keeps modes by default [S0-28]', async (t) => {
  const { workspace, call, modeOf } = await scene(t);
  assert.deepEqual((await call({ src: 'src', dst: 'kept' })).data, {
    copied: true,
    entries: 4,
    bytes: 6,
    replaced: false,
  });
  await call({ source: 'src', destination: 'plain', preserve_mode: false });
  assert.deepEqual([modeOf('kept/inner/run'), modeOf('plain/inner/run')], [0o750, 0o644]);
  assert.equal(readlinkSync(join(workspace, 'kept/link')), 'inner/run');
  assert.equal(readFileSync(join(workspace, 'kept/inner/run'), 'utf8'), 'héllo');
  const over = await call({ from: 'note', to: 'plain/inner/run', overwrite: true });
  assert.deepEqual(over.data, { copied: true, entries: 1, bytes: 4, replaced: true });
});

test('fs_copy refuses an existing target, a folder into itself and a missing source, and leaves all as it was [S0-28]', async (t) => {
  const { workspace, call } = await scene(t);
  for (const [args, message] of [
    [{ src: 'src', dst: 'note' }, 'Target exists already: note'],
    [{ src: 'src', dst: 'src/copy' }, 'A folder cannot go into itself: src/copy'],
    [{ src: 'note', dst: 'note', overwrite: true }, 'Source and target are the same: note'],
    [{ src: 'missing', dst: 'copy' }, 'File not found: missing'],
    [{ src: 'note', dst: 'a/copy' }, 'Folder not found: a'],
  ] as const) {
    const { ok, errors } = await call(args);
    assert.deepEqual([ok, errors[0]?.code, errors[0]?.message], [false, 'E_FILE_IO', message]);
  }
  assert.equal(readFileSync(join(workspace, 'note'), 'utf8'), 'note');
  assert.equal((await call({ src: 'note', dst: 'a/copy', create_dirs: true })).ok, true);
});

test('fs_copy refuses paths that leave and git data by policy, and copies their twins [S0-34]', async (t) => {
  const { workspace, call } = await scene(t);
  mkdirSync(join(workspace, 'repository/.git'), { recursive: true });
  symlinkSync('/etc', join(workspace, 'leak'));
  for (const args of [
    { src: '/etc/passwd', dst: 'stolen' },
    { src: 'leak/passwd', dst: 'stolen' },
    { src: 'note', dst: '../note' },
    { src: 'note', dst: 'leak/note' },
    { src: 'repository', dst: 'copy' },
    { src: 'note', dst: '.git/hooks' },
    { src: '.', dst: 'copy' },
  ]) {
    assert.equal((await call(args)).errors[0]?.code, 'E_POLICY', JSON.stringify(args));
  }
  assert.equal((await call({ src: 'leak', dst: 'link' })).ok, true);
  assert.equal((await call({ src: 'src', dst: 'repository/copy' })).ok, true);
});

test('fs_copy defaults to keeping modes and what is at the target [S0-28]', () => {
  assert.deepEqual(fsCopy.args.parse({ src: 'a', dst: 'b' }), {
    src: 'a',
    dst: 'b',
    overwrite: false,
    preserve_mode: true,
    create_dirs: false,
  });
  assert.ok(!fsCopy.args.safeParse({ src: '', dst: 'b' }).success);
  assert.deepEqual([fsCopy.annotations?.kind, fsCopy.risk, fsCopy.effect], ['edit', 'medium', 'write']);
});
