/** What holds outside of transactions holds for their commits: durability, known secrets, folders and path rules. */
import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { transactionScene } from './transaction-scene.ts';

const SECRET = 'hunter2-hunter2-hunter2';
const GROUNDS = [
  ['an overlay', 'sandboxed', ''],
  ['a copy', 'strict', 'isolation: none\n'],
] as const;

function filesWithSecret(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    try {
      return readFileSync(join(folder, name)).includes(SECRET);
    } catch {
      // A folder, or gone meanwhile.
      return false;
    }
  });
}

for (const [ground, shell, lines] of GROUNDS) {
  test(`known secrets in files of a transaction on ${ground} are not kept and not shown`, async (t) => {
    const { done, refused, put, text, state } = await transactionScene(t, {
      ...{ shell, registry: lines, secrets: [SECRET] },
    });
    put('config.txt', `old ${SECRET}\n`);
    put('plain.txt', 'old plain\n');
    const { tx_id } = await done('tx_begin');
    await done('file_write', { path: 'config.txt', content: 'without it\n' });
    await done('file_write', { path: 'made.txt', content: `new ${SECRET}\n` });
    await done('file_write', { path: 'plain.txt', content: 'new plain\n' });
    await done('tx_commit');
    assert.equal(text('made.txt'), `new ${SECRET}\n`);
    const shown = JSON.stringify(await done('change_show', { change_id: String(tx_id) }));
    assert.doesNotMatch(shown, /hunter2/);
    assert.match(shown, /new plain/);
    // The tree of a transaction is given up soon after its commit was answered.
    while (filesWithSecret(state).length > 0) await setTimeout(50);
    assert.ok((await refused('change_undo', { change_id: String(tx_id) }))['reason']);
    await done('change_undo', { change_id: String(tx_id), paths: ['plain.txt'] });
    assert.equal(text('plain.txt'), 'old plain\n');
  });

  test(`a conflict of a transaction on ${ground} shows no known secret in its diffs`, async (t) => {
    const { done, ask, put } = await transactionScene(t, { shell, registry: lines, secrets: [SECRET] });
    put('a.txt', 'one\n');
    await done('tx_begin');
    await done('file_write', { path: 'a.txt', content: `mine ${SECRET}\n` });
    put('a.txt', `theirs ${SECRET}\n`);
    const answer = await ask('tx_commit');
    assert.equal(answer.errors[0]?.details?.['reason'], 'conflict');
    assert.match(JSON.stringify(answer), /mine/);
    assert.doesNotMatch(JSON.stringify(answer), /hunter2/);
  });

  test(`a file that may not be read has no other name in a transaction on ${ground}`, async (t) => {
    const base = mkdtempSync(join(tmpdir(), 'hard-'));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    const workspace = join(base, 'workspace');
    mkdirSync(join(workspace, 'folder'), { recursive: true });
    writeFileSync(join(workspace, 'token'), 'hidden\n');
    writeFileSync(join(workspace, 'plain'), 'plain\n');
    linkSync(join(workspace, 'token'), join(workspace, 'hard'));
    linkSync(join(workspace, 'token'), join(workspace, 'folder/hard'));
    const governing = [{ path: join(workspace, 'token'), access: 'none' }];
    const { ask, done } = await transactionScene(t, { shell, registry: lines, workspace, governing });
    await done('tx_begin');
    for (const [tool, args] of [
      ['file_read', { path: 'hard' }],
      ['fs_copy', { src: 'hard', dst: 'copied' }],
      ['fs_move', { src: 'hard', dst: 'moved' }],
    ] as const)
      assert.equal((await ask(tool, args)).ok, false, tool);
    // On a copy they move a folder that does not have it.
    await ask('fs_copy', { src: 'folder', dst: 'copies' });
    await ask('fs_move', { src: 'folder', dst: 'moves' });
    for (const path of ['copied', 'moved', 'copies/hard', 'moves/hard', 'folder/hard'])
      assert.equal((await ask('file_read', { path })).ok, false, path);
    assert.doesNotMatch(JSON.stringify(await done('grep', { pattern: 'hidden|plain' })), /hidden/);
    await done('fs_copy', { src: 'plain', dst: 'copied' });
    assert.equal((await done('file_read', { path: 'copied' }))['content'], 'plain\n');
  });

  test(`a session bound to a folder has its transactions on ${ground} there, and path rules hold inside`, async (t) => {
    const { session, put, path, text } = await transactionScene(t, {
      shell,
      registry: `${lines}arg_constraints: [{ tool: file_write, arg_patterns: ['inner/*.txt', 'outer.txt'] }]\n`,
    });
    put('inner/a.txt', 'a\n');
    put('inner/closed/b.txt', 'b\n');
    put('outer.txt', 'outer\n');
    const tools = { type: 'inherit_allowlist' } as const;
    const child = await session.openChild({ agentId: 'child', tools, folder: 'inner' } as never);
    const call = async (tool: string, args: object) => child.call(tool as string, args as never);
    assert.ok((await call('tx_begin', {})).ok);
    assert.ok((await call('file_write', { path: 'a.txt', content: 'changed\n' })).ok);
    assert.ok((await call('file_write', { path: 'new.txt', content: 'new\n' })).ok);
    for (const outside of ['../outer.txt', path('outer.txt'), 'closed/b.txt', 'closed/new.txt'])
      assert.equal((await call('file_write', { path: outside, content: 'x' })).errors[0]?.code, 'E_POLICY', outside);
    const listed = await call('fs_list', { glob: '**' });
    assert.doesNotMatch(JSON.stringify(listed.data), /outer/);
    assert.equal(text('inner/a.txt'), 'a\n');
    const committed = await call('tx_commit', {});
    assert.ok(committed.ok, JSON.stringify(committed.errors));
    assert.deepEqual(
      [text('inner/a.txt'), text('inner/new.txt'), text('outer.txt')],
      ['changed\n', 'new\n', 'outer\n'],
    );
    assert.equal(text('inner/closed/b.txt'), 'b\n');
    const undone = await call('change_undo', { change_id: committed.change_id, paths: ['a.txt', 'new.txt'] });
    assert.ok(undone.ok, JSON.stringify(undone.errors));
    assert.deepEqual([text('inner/a.txt'), existsSync(path('inner/new.txt'))], ['a\n', false]);
  });
}

test('a commit with durability: full is whole, and a conflict in it leaves nothing', async (t) => {
  const { done, refused, put, text } = await transactionScene(t, { registry: 'durability: full\n' });
  put('a.txt', 'a\n');
  const { tx_id } = await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'b\n' });
  await done('shell_exec', { cmd: 'mkdir -p d && cp a.txt d/copy.txt' });
  await done('tx_commit');
  assert.deepEqual([text('a.txt'), text('d/copy.txt')], ['b\n', 'b\n']);
  await done('change_undo', { change_id: String(tx_id) });
  assert.equal(text('a.txt'), 'a\n');
  await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'mine\n' });
  await done('file_write', { path: 'n.txt', content: 'n\n' });
  put('a.txt', 'theirs\n');
  assert.equal((await refused('tx_commit'))['reason'], 'conflict');
  assert.equal(text('a.txt'), 'theirs\n');
});
