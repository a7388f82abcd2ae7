import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readStates } from '../../../test/commit-crash-scene.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

async function scene(t: TestContext, registry?: string) {
  const options = registry === undefined ? {} : { registry: { text: registry, file: 'registry.yaml' } };
  const { session, workspace, dispose } = await openScratchRuntime(options as never);
  t.after(dispose);
  const path = (name: string) => join(workspace, name);
  const put = (name: string, text: string) => {
    mkdirSync(join(path(name), '..'), { recursive: true });
    writeFileSync(path(name), text);
  };
  const ask = (tool: string, args: Record<string, unknown>) => session.call(tool as string, args);
  /** The id of the change set the call made. */
  const changed = async (tool: string, args: Record<string, unknown>): Promise<string> => {
    const answer = await ask(tool, args);
    assert.ok(answer.ok, JSON.stringify(answer.errors));
    return answer.change_id ?? '';
  };
  return { workspace, path, put, ask, changed, text: (name: string) => readFileSync(path(name), 'utf8') };
}

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join('');

test('change_undo takes back a write, a new file with its folders, a move and a removal, byte for byte', async (t) => {
  const { workspace, put, changed, path } = await scene(t);
  put('a.txt', 'old\r\n');
  chmodSync(path('a.txt'), 0o755);
  put('d/e/f.txt', 'deep\n');
  put('d/g.txt', 'g\n');
  symlinkSync('g.txt', path('d/link'));
  const steps: readonly [string, Record<string, unknown>][] = [
    ['file_write', { path: 'a.txt', content: 'new\n' }],
    ['file_write', { path: 'x/y/z.txt', content: 'z\n', create_dirs: true }],
    ['fs_move', { src: 'd', dst: 'moved/d', create_dirs: true }],
    ['fs_delete', { path: 'd', recursive: true }],
    ['fs_copy', { src: 'd', dst: 'copy' }],
  ];
  for (const [tool, args] of steps) {
    const before = readStates(workspace);
    const id = await changed(tool, args);
    const after = readStates(workspace);
    assert.notDeepEqual(after, before, tool);
    const undo = await changed('change_undo', { change_id: id });
    assert.deepEqual(sorted(readStates(workspace)), sorted(before), `${tool} is undone`);
    const redo = await changed('change_undo', { change_id: undo });
    assert.deepEqual(sorted(readStates(workspace)), sorted(after), `the undo of ${tool} is undone`);
    await changed('change_undo', { change_id: redo });
  }
});

function sorted(states: ReturnType<typeof readStates>): unknown {
  return [...states].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

test('change_undo keeps later changes in other lines, and refuses with both named when they overlap', async (t) => {
  const { put, ask, changed, text } = await scene(t);
  put('a.txt', TEN);
  const first = await changed('file_edit', { path: 'a.txt', old: 'line 2', new: 'LINE 2' });
  put('a.txt', text('a.txt').replace('line 9', 'by hand'));
  const undone = await ask('change_undo', { change_id: first });
  assert.deepEqual([undone.ok, (undone.data as { merged: string[] }).merged], [true, ['a.txt']]);
  assert.equal(text('a.txt'), TEN.replace('line 9', 'by hand'));

  const second = await changed('file_edit', { path: 'a.txt', old: 'line 3', new: 'LINE 3' });
  const third = await changed('file_edit', { path: 'a.txt', old: 'LINE 3', new: 'Line three' });
  const now = text('a.txt');
  const refused = await ask('change_undo', { change_id: second });
  const [error] = refused.errors;
  assert.deepEqual([refused.ok, error?.code, error?.details?.['reason']], [false, 'E_FILE_IO', 'overlap']);
  assert.deepEqual([error?.details?.['change_id'], error?.details?.['later_change_id']], [second, third]);
  assert.equal(text('a.txt'), now);
  assert.ok((await ask('change_undo', { change_id: third })).ok);
  assert.ok((await ask('change_undo', { change_id: second })).ok);
  assert.equal(text('a.txt'), TEN.replace('line 9', 'by hand'));
});

test('change_undo goes back to the point before a call, or takes back some of its files', async (t) => {
  const { put, ask, changed, text, path } = await scene(t);
  put('a.txt', 'a\n');
  const first = await changed('file_write', { path: 'a.txt', content: 'a2\n' });
  await changed('file_write', { path: 'b.txt', content: 'b\n' });
  await changed('file_write', { path: 'a.txt', content: 'a3\n' });
  const back = await ask('change_undo', { change_id: first, through_now: true });
  assert.equal((back.data as { undone: string[] }).undone.length, 3);
  assert.deepEqual([text('a.txt'), existsSync(path('b.txt'))], ['a\n', false]);
  const part = await ask('change_undo', { change_id: back.change_id, paths: ['b.txt'] });
  assert.ok(part.ok);
  assert.deepEqual([text('a.txt'), text('b.txt')], ['a\n', 'b\n']);
  const again = await ask('change_undo', { change_id: first });
  assert.deepEqual([again.ok, again.errors[0]?.details?.['reason']], [false, 'not_applied']);
  const unknown = await ask('change_undo', { change_id: 'none' });
  assert.equal(unknown.errors[0]?.details?.['reason'], 'unknown_change');
});

test('change_undo leaves a folder that others put something into, and writes through no link that came later', async (t) => {
  const { put, ask, changed, path, text } = await scene(t);
  const made = await changed('file_write', { path: 'new/a.txt', content: 'a\n', create_dirs: true });
  put('new/other.txt', 'of somebody else\n');
  assert.ok((await ask('change_undo', { change_id: made })).ok);
  assert.deepEqual([existsSync(path('new/a.txt')), text('new/other.txt')], [false, 'of somebody else\n']);

  put('target.txt', 'target\n');
  put('b.txt', 'old\n');
  const written = await changed('file_write', { path: 'b.txt', content: 'new\n' });
  const { rmSync } = await import('node:fs');
  rmSync(path('b.txt'));
  symlinkSync('target.txt', path('b.txt'));
  const refused = await ask('change_undo', { change_id: written });
  assert.deepEqual([refused.ok, refused.errors[0]?.details?.['reason']], [false, 'overlap']);
  assert.deepEqual([readlinkSync(path('b.txt')), text('target.txt')], ['target.txt', 'target\n']);
  assert.ok(lstatSync(path('b.txt')).isSymbolicLink());
});

const CHILD_TOOLS = ['change_list', 'change_show', 'change_undo', 'file_read', 'file_write', 'fs_delete'];

test('change_undo brings a folder back that a command replaced by a link out of the workspace', async (t) => {
  const { workspace, put, changed, path } = await scene(t, 'version: 1\nshell: { mode: sandboxed }\n');
  put('folder/x', 'x\n');
  put('../outside/x', 'outside\n');
  const before = readStates(workspace);
  const id = await changed('shell_exec', { cmd: 'rm -r folder; ln -s ../outside folder', effects: 'recorded' });
  const linked = readStates(workspace);
  assert.equal(readlinkSync(path('folder')), '../outside');
  const undo = await changed('change_undo', { change_id: id });
  assert.deepEqual(readStates(workspace), before);
  await changed('change_undo', { change_id: undo });
  assert.deepEqual(readStates(workspace), linked);
  assert.equal(readFileSync(join(workspace, '../outside/x'), 'utf8'), 'outside\n');
});

test('a child session sees and takes back only what is in its folder', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime({});
  t.after(dispose);
  const write = async (path: string): Promise<string> => {
    const answer = await session.call('file_write', { path, content: 'new\n', create_dirs: true });
    assert.ok(answer.ok, JSON.stringify(answer.errors));
    return answer.change_id ?? '';
  };
  const [outer, made] = [await write('a.txt'), await write('sub/b.txt')];
  const inner = await write('sub/c.txt');
  const child = await session.openChild({ agentId: 'child', folder: 'sub', tools: CHILD_TOOLS });
  const list = await child.call('change_list', {});
  const { changes } = list.data as { changes: readonly { change_id: string }[] };
  assert.deepEqual(changes.map(({ change_id }) => change_id).toSorted(), [made, inner].toSorted());
  assert.doesNotMatch(JSON.stringify(await child.call('change_show', { change_id: outer })), /a\.txt|new\\n/);
  // The second one made the folder itself, which the child is in.
  for (const change_id of [outer, made]) {
    const { errors } = await child.call('change_undo', { change_id });
    assert.deepEqual([errors[0]?.code, errors[0]?.details?.['reason']], ['E_POLICY', 'outside_folder']);
  }
  assert.equal(existsSync(join(workspace, 'a.txt')), true);
  assert.equal((await child.call('change_undo', { change_id: inner })).ok, true);
  assert.deepEqual(readdirSync(join(workspace, 'sub')), ['b.txt']);
});

const OPEN = "['open', 'open/**']";

for (const tool of ['change_show', 'file_read'] as const) {
  test(`change_show shows what the path rules of ${tool} allow, and nothing else`, async (t) => {
    const rule = `version: 1\narg_constraints: [{ tool: ${tool}, arg_patterns: ${OPEN} }]\n`;
    const { changed, ask } = await scene(t, rule);
    const open = await changed('file_write', { path: 'open/a.txt', content: 'seen\n', create_dirs: true });
    const closed = await changed('file_write', { path: 'closed/b.txt', content: 'hidden\n', create_dirs: true });
    for (const args of [{ change_id: closed }, { change_id: closed, path: 'closed/b.txt' }]) {
      const { errors } = await ask('change_show', args);
      assert.equal(errors[0]?.code, 'E_POLICY', JSON.stringify(args));
    }
    const shown = await ask('change_show', { change_id: open, path: 'open/a.txt' });
    assert.match(JSON.stringify(shown.data), /\+seen/);
  });
}

for (const tool of ['change_undo', 'file_edit', 'fs_delete'] as const) {
  test(`change_undo changes what the path rules of ${tool} allow, and nothing else`, async (t) => {
    const { changed, ask, text, put } = await scene(
      t,
      `version: 1\narg_constraints: [{ tool: ${tool}, arg_patterns: ${OPEN} }]\n`,
    );
    for (const name of ['open/a.txt', 'closed/b.txt']) put(name, 'old\n');
    const open = await changed('file_write', { path: 'open/a.txt', content: 'new\n' });
    const closed = await changed('file_write', { path: 'closed/b.txt', content: 'new\n' });
    for (const args of [{ change_id: closed }, { change_id: closed, paths: ['closed/b.txt'] }]) {
      const { errors } = await ask('change_undo', args);
      assert.equal(errors[0]?.code, 'E_POLICY', JSON.stringify(args));
    }
    assert.equal(text('closed/b.txt'), 'new\n');
    const undone = await ask('change_undo', { change_id: open, paths: ['open/a.txt'] });
    assert.ok(undone.ok, JSON.stringify(undone.errors));
    assert.equal(text('open/a.txt'), 'old\n');
  });
}
