import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { transactionScene } from '../../../test/transaction-scene.ts';

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join('');

test('tx_commit makes edits, moves, removals, folders and what commands wrote real together, under one change id', async (t) => {
  const { ask, done, put, text, path, states } = await transactionScene(t);
  put('a.txt', 'one\n');
  put('d/e/f.txt', 'deep\n');
  put('gone.txt', 'gone\n');
  put('keep/x.txt', 'x\n');
  const before = states();
  const { tx_id } = await done('tx_begin');
  const wrote = await ask('file_write', { path: 'a.txt', content: 'two\n' });
  assert.equal(wrote.change_id, tx_id);
  await done('file_write', { path: 'new/deep/n.txt', content: 'n\n', create_dirs: true });
  await done('fs_move', { src: 'd', dst: 'moved' });
  await done('fs_delete', { path: 'gone.txt' });
  await done('fs_delete', { path: 'keep', recursive: true });
  const command = await ask('shell_exec', {
    cmd: 'cat a.txt moved/e/f.txt > joined.txt && chmod 755 a.txt && rm -r new/deep',
  });
  assert.equal(command.change_id, tx_id, JSON.stringify(command.errors));
  assert.equal((command.data as { effects?: { mode: string } }).effects?.mode, 'staged');
  assert.deepEqual(states(), before, 'nothing is real before the commit');
  const committed = await ask('tx_commit');
  assert.ok(committed.ok, JSON.stringify(committed.errors));
  assert.equal(committed.change_id, tx_id);
  assert.equal(text('joined.txt'), 'two\ndeep\n');
  assert.deepEqual(readdirSync(path('.')).sort(), ['a.txt', 'joined.txt', 'moved', 'new']);
  const undone = await ask('change_undo', { change_id: String(tx_id) });
  assert.ok(undone.ok, JSON.stringify(undone.errors));
  assert.deepEqual(states(), before);
});

test('reads, listings, searches and commands of a transaction see what it has staged, others do not (deep)', async (t) => {
  const { runtime, session, done, put } = await transactionScene(t);
  put('a.txt', 'needle\n');
  const other = await runtime.openSession({ actor: 'other' });
  await done('tx_begin');
  await done('file_write', { path: 'b.txt', content: 'needle too\n' });
  await done('fs_delete', { path: 'a.txt' });
  const seenBy = async (session: typeof other): Promise<readonly (readonly string[])[]> => {
    const answers = [
      await session.call('fs_list', { glob: '**' }),
      await session.call('grep', { pattern: 'needle' }),
      await session.call('shell_exec', { cmd: 'ls' }),
    ];
    const names = ['a.txt', 'b.txt'];
    return answers.map(({ data }) => names.filter((name) => JSON.stringify(data).includes(name)));
  };
  assert.deepEqual(await seenBy(session), [['b.txt'], ['b.txt'], ['b.txt']]);
  assert.deepEqual(await seenBy(other), [['a.txt'], ['a.txt'], ['a.txt']]);
  assert.equal((await done('file_read', { path: 'b.txt' }))['content'], 'needle too\n');
});

test('tx_commit merges changes of others in other lines, and refuses with both diffs when they touch the same', async (t) => {
  const { done, refused, put, text, runtime } = await transactionScene(t);
  put('merged.txt', TEN);
  put('clash.txt', TEN);
  const { tx_id } = await done('tx_begin');
  await done('file_edit', { path: 'merged.txt', edits: [{ old: 'line 2\n', new: 'mine 2\n' }] });
  await done('file_write', { path: 'new.txt', content: 'new\n' });
  put('merged.txt', TEN.replace('line 9', 'theirs 9'));
  const first = await done('tx_commit');
  assert.deepEqual(first['merged'], ['merged.txt']);
  assert.equal(text('merged.txt'), TEN.replace('line 2', 'mine 2').replace('line 9', 'theirs 9'));

  const again = await done('tx_begin');
  await done('file_edit', { path: 'clash.txt', edits: [{ old: 'line 2\n', new: 'mine 2\n' }] });
  await done('file_write', { path: 'other.txt', content: 'other\n' });
  const other = await runtime.openSession({ actor: 'other' });
  const outside = await other.call('file_edit', { path: 'clash.txt', edits: [{ old: 'line 2\n', new: 'theirs 2\n' }] });
  const error = await refused('tx_commit');
  assert.deepEqual(
    [error['code'], error['reason'], error['tx_id'], error['change_ids'], error['paths']],
    ['E_FILE_IO', 'conflict', again['tx_id'], [outside.change_id], ['clash.txt']],
  );
  const [diffs] = error['conflicts'] as { transaction: string; others: string }[];
  assert.match(diffs?.transaction ?? '', /\+mine 2/);
  assert.match(diffs?.others ?? '', /\+theirs 2/);
  assert.equal(text('clash.txt'), TEN.replace('line 2', 'theirs 2'));
  assert.equal((await done('file_read', { path: 'other.txt' }))['content'], 'other\n', 'it stays open');
  await done('tx_abort');
  await refused('file_read', { path: 'other.txt' });
  assert.notEqual(tx_id, again['tx_id']);
});

test('of two transactions that change one file the second gets a conflict that names the first (deep)', async (t) => {
  const { session, put, text, done } = await transactionScene(t);
  put('a.txt', TEN);
  const one = String((await done('tx_begin'))['tx_id']);
  const two = String((await done('tx_begin'))['tx_id']);
  const edit = (txId: string, line: number) =>
    session.call('file_edit', { path: 'a.txt', edits: [{ old: `line ${line}\n`, new: `${txId}\n` }] }, { txId });
  for (const [tx, line] of [
    [one, 3],
    [two, 3],
  ] as const)
    assert.ok((await edit(tx, line)).ok);
  assert.ok((await session.call('tx_commit', { tx_id: one })).ok);
  const second = await session.call('tx_commit', { tx_id: two });
  assert.deepEqual(
    [second.errors[0]?.details?.['reason'], second.errors[0]?.details?.['change_ids']],
    ['conflict', [one]],
  );
  assert.equal(text('a.txt'), TEN.replace('line 3', one));
  assert.ok((await session.call('tx_abort', { tx_id: two })).ok);
});

test('what others do to files that a command changed, removed or renamed is a conflict, not lost (deep)', async (t) => {
  const { done, refused, put, text, path } = await transactionScene(t);
  for (const name of ['a.txt', 'b.txt', 'c/one.txt']) put(name, TEN);
  await done('tx_begin');
  await done('shell_exec', { cmd: 'sed -i s/line.3/mine/ a.txt && rm b.txt && rm -r c' });
  put('a.txt', TEN.replace('line 8', 'theirs'));
  put('c/two.txt', 'new by others\n');
  const error = await refused('tx_commit');
  assert.deepEqual([error['reason'], error['paths']], ['conflict', ['c/two.txt']]);
  rmSync(path('c/two.txt'));
  await done('tx_commit');
  assert.equal(text('a.txt'), TEN.replace('line 3', 'mine').replace('line 8', 'theirs'));
  assert.deepEqual([existsSync(path('b.txt')), existsSync(path('c'))], [false, false]);
});

test('a file that was removed by others and changed in the transaction is a conflict (deep)', async (t) => {
  const { done, refused, put, path } = await transactionScene(t);
  put('a.txt', TEN);
  put('b.txt', TEN);
  await done('tx_begin');
  await done('file_edit', { path: 'a.txt', edits: [{ old: 'line 2\n', new: 'mine 2\n' }] });
  await done('shell_exec', { cmd: 'echo more >> b.txt' });
  rmSync(path('a.txt'));
  rmSync(path('b.txt'));
  const error = await refused('tx_commit');
  assert.equal(error['reason'], 'conflict');
  assert.deepEqual((error['paths'] as string[]).toSorted(), ['a.txt', 'b.txt']);
  assert.deepEqual(readdirSync(path('.')), []);
});

test('rules of the after phase judge the whole at the commit: what is only right together may be made step by step (deep)', async (t) => {
  const pair = {
    ...{ id: 'test.pair', category: 'Test', description: 'a and b agree', phase: 'after', trigger: 'after writes' },
    ...{ defaultEnforcement: 'blocking', always: true, appliesTo: () => true },
    async check(
      _subject: unknown,
      { workspace }: { workspace: { readFile(path: string): Promise<{ bytes: Uint8Array }> } },
    ) {
      const [a, b] = [await workspace.readFile('a.txt'), await workspace.readFile('b.txt')];
      return Buffer.compare(a.bytes, b.bytes) === 0 ? [] : [{ message: 'a.txt and b.txt differ' }];
    },
  };
  const { done, refused, put, text } = await transactionScene(t, { rules: [pair] });
  put('a.txt', '1\n');
  put('b.txt', '1\n');
  assert.match(String((await refused('file_write', { path: 'a.txt', content: '2\n' }))['message']), /differ/);
  await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: '2\n' });
  assert.match(String((await refused('tx_commit'))['message']), /differ/);
  assert.equal(text('a.txt'), '1\n');
  await done('file_write', { path: 'b.txt', content: '2\n' });
  await done('tx_commit');
  assert.deepEqual([text('a.txt'), text('b.txt')], ['2\n', '2\n']);
});

test('rules of the commit phase and commands of the registry judge the staged tree; what they write is dropped (deep)', async (t) => {
  const registry = [
    'commands: { build: "sh -c \'grep -q good a.txt && echo built > out.txt\'", test: "test -e out.txt" }',
    'validators: [{ rule: secrets.scan, enforcement: blocking }]',
  ].join('\n');
  const { done, refused, put, text, path } = await transactionScene(t, { registry });
  put('a.txt', 'bad\n');
  await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'good\n' });
  await done('file_write', { path: 'key.txt', content: `token = "ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}"\n` });
  assert.equal((await refused('tx_commit'))['rule'], 'secrets.scan');
  await done('fs_delete', { path: 'key.txt' });
  assert.deepEqual((await done('tx_commit'))['checked'], ['build', 'test']);
  assert.equal(text('a.txt'), 'good\n');
  assert.deepEqual(readdirSync(path('.')), ['a.txt']);
  await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'bad again\n' });
  const failed = await refused('tx_commit');
  assert.deepEqual([failed['reason'], failed['check'], failed['exit_code']], ['check_failed', 'build', 1]);
  assert.equal(text('a.txt'), 'good\n');
});

test('protected files, links that lead out and path rules hold on the staged tree as outside', async (t) => {
  const { done, refused, put, workspace, text } = await transactionScene(t);
  mkdirSync(join(workspace, '.git'));
  put('.git/config', '[core]\n');
  put('inside.txt', 'inside\n');
  symlinkSync('/etc', join(workspace, 'out'));
  await done('tx_begin');
  assert.equal((await refused('file_write', { path: '.git/config', content: 'x' }))['code'], 'E_POLICY');
  assert.equal((await refused('file_read', { path: 'out/passwd' }))['code'], 'E_POLICY');
  assert.equal((await refused('file_write', { path: '../beside.txt', content: 'x' }))['code'], 'E_POLICY');
  await done('shell_exec', { cmd: 'ln -s /etc made && ln -s inside.txt near && mkdir -p d && ln -s ../../.. d/up' });
  assert.equal((await refused('file_read', { path: 'made/passwd' }))['code'], 'E_POLICY');
  assert.equal((await refused('file_write', { path: 'd/up/beside.txt', content: 'x' }))['code'], 'E_POLICY');
  assert.equal((await done('file_read', { path: 'near' }))['content'], 'inside\n');
  await done('tx_commit');
  assert.equal(text('near'), 'inside\n');
  assert.equal(readFileSync(join(workspace, '.git/config'), 'utf8'), '[core]\n');
  assert.deepEqual(readdirSync(join(workspace, '..')).sort(), ['state', 'workspace']);
});

test('a call with a key is made once in its transaction, and again when that was given up (deep)', async (t) => {
  const { ask, done, text, put } = await transactionScene(t);
  put('log.txt', '');
  const append = () => ask('shell_exec', { cmd: 'echo line >> log.txt' }, { idempotencyKey: 'append-1' });
  await done('tx_begin');
  for (let time = 0; time < 2; time++) assert.ok((await append()).ok);
  assert.equal((await done('file_read', { path: 'log.txt' }))['content'], 'line\n');
  await done('tx_abort');
  await done('tx_begin');
  assert.ok((await append()).ok);
  assert.equal((await done('file_read', { path: 'log.txt' }))['content'], 'line\n');
  await done('tx_commit', {}, { idempotencyKey: 'commit-1' });
  assert.equal(text('log.txt'), 'line\n');
  const replay = await ask('tx_commit', {}, { idempotencyKey: 'commit-1' });
  assert.ok(replay.ok, 'the same key is answered from the record');
});

test('tx_commit of a transaction that changed nothing succeeds and leaves no change set (deep)', async (t) => {
  const { ask, done, put } = await transactionScene(t);
  put('a.txt', 'same\n');
  await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'other\n' });
  await done('file_write', { path: 'a.txt', content: 'same\n' });
  const answer = await ask('tx_commit');
  assert.ok(answer.ok);
  assert.equal(answer.change_id, undefined);
  assert.deepEqual((await done('change_list'))['changes'], []);
});

test('what others write shows in an open transaction where it changed nothing (deep)', async (t) => {
  const { done, put } = await transactionScene(t);
  await done('tx_begin');
  put('later.txt', 'later\n');
  assert.equal((await done('file_read', { path: 'later.txt' }))['content'], 'later\n');
});

test('an answer that is kept for a key in a transaction answers for nothing outside of it (deep)', async (t) => {
  const { ask, done, session, text, put } = await transactionScene(t);
  put('log.txt', '');
  const args = { path: 'log.txt', content: 'line\n', append: true };
  const { tx_id } = await done('tx_begin');
  await done('file_write', args, { idempotencyKey: 'k', dedupeKey: 'd' });
  await done('tx_abort');
  assert.equal(text('log.txt'), '');
  // Not under the same key, nor under one that is spelled like that of the transaction.
  for (const key of ['k', `${tx_id}:k`]) assert.ok((await ask('file_write', args, { idempotencyKey: key })).ok);
  assert.ok((await ask('file_write', args, { dedupeKey: 'd' })).ok);
  assert.equal(text('log.txt'), 'line\n'.repeat(3));

  const item = { tool: 'file_write', args, idempotencyKey: 'in-batch' };
  const broken = { tool: 'file_write', args: { path: '../out', content: 'x' } };
  const [first] = await session.batch([item, broken], { atomic: true });
  assert.equal(first?.ok, false, 'it was taken back with its batch');
  assert.equal(text('log.txt'), 'line\n'.repeat(3));
  assert.ok((await ask('file_write', args, { idempotencyKey: 'in-batch' })).ok);
  assert.equal(text('log.txt'), 'line\n'.repeat(4), 'its key did not answer for it');
});
