import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultRegistry } from '../../registry/build-registry.ts';
import { createRuntime } from '../../runtime.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsDelete } from './fs-delete.ts';

async function scene(t: TestContext) {
  const { session, workspace, state, dispose } = await openScratchRuntime();
  t.after(dispose);
  mkdirSync(join(workspace, 'folder/inner'), { recursive: true });
  writeFileSync(join(workspace, 'folder/inner/file'), 'héllo');
  writeFileSync(join(workspace, 'note'), 'note');
  return { workspace, state, call: (args: Record<string, unknown>) => session.call('fs_delete' as string, args) };
}

test('fs_delete removes a file, an empty folder, and a full one only when told to [S0-29]', async (t) => {
  const { workspace, call } = await scene(t);
  const refused = await call({ path: 'folder' });
  assert.deepEqual(
    [refused.errors[0]?.code, refused.errors[0]?.message, refused.errors[0]?.details?.['next']],
    ['E_FILE_IO', 'Folder is not empty (1 entry): folder', 'Pass recursive: true to remove it with everything in it'],
  );
  assert.deepEqual((await call({ file: 'folder/inner/file' })).data, { deleted: true, entries: 1, bytes: 6 });
  assert.deepEqual((await call({ path: 'folder/inner' })).data, { deleted: true, entries: 1, bytes: 0 });
  writeFileSync(join(workspace, 'folder/x'), '12');
  assert.deepEqual((await call({ path: 'folder', recursive: true })).data, { deleted: true, entries: 2, bytes: 2 });
  assert.deepEqual(readdirSync(workspace), ['note']);
});

test('fs_delete says when there is nothing: an error, or with force an answer [S0-29]', async (t) => {
  const { call } = await scene(t);
  for (const path of ['missing', 'missing/deep', 'note/below']) {
    const { errors } = await call({ path });
    assert.equal(errors[0]?.code, 'E_FILE_IO', path);
  }
  assert.equal((await call({ path: 'missing' })).errors[0]?.message, 'File not found: missing');
  assert.deepEqual((await call({ path: 'missing', force: true })).data, { deleted: false, entries: 0, bytes: 0 });
  assert.deepEqual((await call({ path: 'note', force: true })).data, { deleted: true, entries: 1, bytes: 4 });
});

test('fs_delete refuses the root, paths that leave and git data by policy, and takes their twins [S0-29 S0-34]', async (t) => {
  const { workspace, call } = await scene(t);
  mkdirSync(join(workspace, 'repository/.git/hooks'), { recursive: true });
  symlinkSync('..', join(workspace, 'leak'));
  for (const path of [
    '.',
    './',
    'folder/..',
    '..',
    '../x',
    '/tmp',
    'leak/x',
    'leak/workspace',
    'repository',
    'repository/.git',
  ]) {
    const { errors } = await call({ path, recursive: true, force: true });
    assert.equal(errors[0]?.code, 'E_POLICY', path);
  }
  assert.ok(existsSync(join(workspace, 'repository/.git/hooks')));
  assert.equal((await call({ path: 'leak' })).ok, true);
  assert.equal((await call({ path: 'folder/', recursive: true })).ok, true);
});

test('fs_delete is a deletion of high risk, critical when nothing would stop it [S0-29]', () => {
  const risk = (given: object) =>
    fsDelete.profile?.(fsDelete.args.parse({ path: 'x', ...given }), defaultRegistry()).risk ?? fsDelete.risk;
  assert.equal(fsDelete.annotations?.kind, 'delete');
  assert.deepEqual(
    [risk({}), risk({ recursive: true }), risk({ force: true }), risk({ recursive: true, force: true })],
    ['high', 'high', 'high', 'critical'],
  );
});

test('what a killed deletion left is gone when the next runtime starts, what is young stays [S0-29]', async (t) => {
  const { workspace, state } = await scene(t);
  const [old, young] = ['.tool-runtime-tmp-0123456789ab', '.tool-runtime-tmp-ba9876543210'];
  for (const name of [old, young]) mkdirSync(join(workspace, name, 'deep'), { recursive: true });
  const past = new Date(Date.now() - 120_000);
  utimesSync(join(workspace, old), past, past);
  const next = await createRuntime({ workspace, state });
  await next.close();
  assert.deepEqual(readdirSync(workspace).sort(), [young, 'folder', 'note']);
});
