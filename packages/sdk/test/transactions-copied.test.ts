/** Transactions where the machine gives no overlay: they work on a copy of the workspace, and no command is part of them. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { copiedTree } from '../src/platform/overlay/copied-tree.ts';
import { noOverlay } from '../src/platform/overlay/overlay-mounts.ts';
import { transactionScene } from './transaction-scene.ts';

const scene = (t: TestContext, registry = '', more = {}) =>
  transactionScene(t, { registry: `isolation: none\nshell_allow: ["^touch "]\n${registry}`, shell: 'strict', ...more });

const LINES = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join('');

test('edits, moves, removals and folders become real together, under one change id that can be undone', async (t) => {
  const { session, ask, done, put, text, path, states, state } = await scene(t);
  put('a.txt', 'one\n');
  put('d/e/f.txt', 'deep\r\n');
  put('gone.txt', 'gone\n');
  put('keep/x.txt', 'x\n');
  symlinkSync('a.txt', path('link'));
  writeFileSync(Buffer.concat([Buffer.from(`${path('d')}/`), Buffer.of(0xff)]), 'no text');
  chmodSync(path('d/e/f.txt'), 0o640);
  const before = states();
  const { tx_id } = await done('tx_begin');
  assert.equal((await ask('file_write', { path: 'a.txt', content: 'two\n' })).change_id, tx_id);
  await done('file_write', { path: 'new/deep/n.txt', content: 'n\n', create_dirs: true });
  await done('fs_move', { src: 'd', dst: 'moved' });
  await done('fs_delete', { path: 'gone.txt' });
  await done('fs_delete', { path: 'keep', recursive: true });
  assert.equal((await done('file_read', { path: 'link' }))['content'], 'two\n');
  assert.match(JSON.stringify(await done('grep', { pattern: 'deep' })), /moved\/e\/f\.txt/);
  assert.deepEqual(states(), before, 'nothing is real before the commit');
  const committed = await ask('tx_commit');
  assert.ok(committed.ok, JSON.stringify(committed.errors));
  assert.equal(text('moved/e/f.txt'), 'deep\r\n');
  assert.deepEqual(readdirSync(path('moved')).length, 2);
  assert.equal(statSync(path('moved/e/f.txt')).mode & 0o777, 0o640);
  assert.equal(readlinkSync(path('link')), 'a.txt');
  assert.deepEqual(readdirSync(path('.')).sort(), ['a.txt', 'link', 'moved', 'new']);
  await done('change_undo', { change_id: String(tx_id) });
  assert.deepEqual(states(), before);
  await session.close();
  assert.deepEqual(readdirSync(join(state, 'overlays')), [], 'the copy is gone');
});

test('changes of others in other lines are merged; in the same lines they are a conflict; an abort leaves nothing', async (t) => {
  const { session, done, refused, put, text, state } = await scene(t);
  put('merged.txt', LINES);
  put('clash.txt', LINES);
  put('other.txt', 'other\n');
  await done('tx_begin');
  await done('file_edit', { path: 'merged.txt', edits: [{ old: 'line 2\n', new: 'mine 2\n' }] });
  put('merged.txt', LINES.replace('line 9', 'theirs 9'));
  put('other.txt', 'changed by others, not by the transaction\n');
  assert.deepEqual((await done('tx_commit'))['merged'], ['merged.txt']);
  assert.equal(text('merged.txt'), LINES.replace('line 2', 'mine 2').replace('line 9', 'theirs 9'));
  assert.equal(text('other.txt'), 'changed by others, not by the transaction\n');

  await done('tx_begin');
  await done('file_edit', { path: 'clash.txt', edits: [{ old: 'line 2\n', new: 'mine 2\n' }] });
  await done('file_write', { path: 'made.txt', content: 'mine\n' });
  put('clash.txt', LINES.replace('line 2', 'theirs 2'));
  put('made.txt', 'theirs\n');
  const error = await refused('tx_commit');
  assert.deepEqual([error['reason'], error['paths']], ['conflict', ['clash.txt', 'made.txt']]);
  await done('tx_abort');
  assert.equal(text('made.txt'), 'theirs\n');
  await session.close();
  assert.deepEqual(readdirSync(join(state, 'overlays')), []);
});

test('a batch is atomic, and a folder that others filled meanwhile is not removed', async (t) => {
  const { session, refused, done, put, path } = await scene(t);
  const items = (last: string) => [
    { tool: 'file_write', args: { path: 'a.txt', content: 'a\n' } },
    { tool: 'file_write', args: { path: last, content: 'b\n' } },
  ];
  const failed = await session.batch(items('../out.txt'), { atomic: true });
  assert.deepEqual([failed.map(({ ok }) => ok), existsSync(path('a.txt'))], [[false, false], false]);
  const made = await session.batch(items('b.txt'), { atomic: true });
  assert.deepEqual(
    made.map(({ ok }) => ok),
    [true, true],
  );

  put('folder/old.txt', 'old\n');
  await done('tx_begin');
  await done('fs_delete', { path: 'folder', recursive: true });
  put('folder/theirs.txt', 'theirs\n');
  assert.equal((await refused('tx_commit'))['reason'], 'conflict');
  assert.deepEqual(readdirSync(path('folder')).sort(), ['old.txt', 'theirs.txt']);
});

test('a command is refused inside with the reason and runs outside; checks that need commands refuse the beginning', async (t) => {
  const { refused, done, path } = await scene(t);
  await done('tx_begin');
  const error = await refused('shell_exec', { argv: ['touch', 'made'] });
  assert.deepEqual([error['code'], error['reason'], error['gate']], ['E_POLICY', 'no_overlay', 'transaction']);
  assert.match(String(error['message']), /cannot run in a transaction on this machine.*isolation: none/);
  await done('tx_abort');
  await done('shell_exec', { argv: ['touch', 'made'] });
  assert.equal(existsSync(path('made')), true);

  for (const registry of [
    'commands: { build: "true" }',
    'commands: { lint: "true" }\nvalidators: [{ rule: lint.must.pass, enforcement: blocking }]',
  ]) {
    const checked = await scene(t, registry);
    const refusal = await checked.refused('tx_begin');
    assert.equal(refusal['reason'], 'no_overlay');
    assert.match(String(refusal['message']), /The check commands\.(?:build|lint) of tx_commit/);
    assert.deepEqual(readdirSync(join(checked.state, 'overlays')), []);
    await checked.done('file_write', { path: 'a.txt', content: 'outside\n' });
  }
  const without = await scene(t, 'commands: { build: "true" }\nchanges: { tx_checks: [] }');
  await without.done('tx_begin');
});

test('what tools may not read is not in the copy, under no name, and a workspace beyond the limits is refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'copied-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')];
  mkdirSync(join(workspace, '.git/objects'), { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(workspace, 'token'), 'hidden');
  linkSync(join(workspace, 'token'), join(workspace, 'alias'));
  writeFileSync(join(workspace, 'plain'), 'plain');
  writeFileSync(join(workspace, '.git/objects/pack'), 'large');
  const root = openRoot(workspace);
  t.after(() => root.close());
  const setting = {
    ...{ state, workspace: root, problem: noOverlay('test'), signal: undefined, protectedNames: () => ['.git'] },
    protectedPaths: [{ path: join(workspace, 'token'), access: 'hide' as const }],
  };
  const tree = await copiedTree(setting);
  assert.deepEqual(readdirSync(tree.path).sort(), ['.git', 'plain']);
  assert.deepEqual(readdirSync(join(tree.path, '.git')), []);
  writeFileSync(join(tree.path, 'alias'), 'over it');
  const { changes, conflicts } = await tree.collect(new Set());
  assert.deepEqual([changes.map(({ path }) => path), conflicts], [['alias'], ['alias']]);
  await tree.release();
  for (const limits of [
    { entries: 1, bytes: 100 },
    { entries: 100, bytes: 3 },
  ])
    await assert.rejects(copiedTree({ ...setting, limits }), /too large for a transaction without an overlay/);
  assert.deepEqual(readdirSync(join(state, 'overlays')), []);
  assert.equal(readFileSync(join(workspace, 'alias'), 'utf8'), 'hidden');
});
