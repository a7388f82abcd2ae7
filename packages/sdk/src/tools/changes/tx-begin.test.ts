import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { transactionScene } from '../../../test/transaction-scene.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import type { RuntimeParts } from '../../session/compile-session.ts';
import { createFaults } from '../../testing/faulty-parts.ts';

test('calls after tx_begin join the newest open transaction, or the one they name', async (t) => {
  const { session, done, text, refused } = await transactionScene(t);
  const one = String((await done('tx_begin'))['tx_id']);
  const two = String((await done('tx_begin'))['tx_id']);
  await done('file_write', { path: 'two.txt', content: '2\n' });
  await done('file_write', { path: 'one.txt', content: '1\n' }, { txId: one });
  await refused('file_read', { path: 'one.txt' });
  assert.equal((await done('file_read', { path: 'one.txt' }, { txId: one }))['content'], '1\n');
  await done('tx_commit', { tx_id: two });
  assert.equal(text('two.txt'), '2\n');
  assert.equal(
    (await done('file_read', { path: 'one.txt' }))['content'],
    '1\n',
    'the older one is the newest open one again',
  );
  await done('tx_commit');
  assert.equal(text('one.txt'), '1\n');
  const late = await session.call('file_write', { path: 'x.txt', content: 'x' }, { txId: one });
  assert.equal(late.errors[0]?.details?.['reason'], 'tx_committed');
});

test('envelopes can name a transaction, and a batch can be one: all of it becomes real, or nothing (deep)', async (t) => {
  const { session, done, text, path } = await transactionScene(t);
  const tx_id = String((await done('tx_begin'))['tx_id']);
  const envelope = { session_id: session.id, timestamp: 0 };
  const call = { tool: 'file_write', args: { path: 'a.txt', content: 'a\n' }, request_id: 'r1', tx_id };
  const answer = await session.handle({ type: 'ToolRequest', ...envelope, ...call });
  assert.equal(answer.type === 'ToolResponse' && answer.change_id, tx_id);
  assert.equal(existsSync(path('a.txt')), false);
  await done('tx_abort', { tx_id });

  const write = (name: string, id: string) => ({
    tool: 'file_write',
    args: { path: name, content: `${name}\n` },
    request_id: id,
  });
  const good = await session.handleBatch({
    ...{ type: 'BatchRequest', ...envelope, request_id: 'b1', atomic: true },
    calls: [write('one.txt', 'c1'), write('two.txt', 'c2')],
  });
  assert.ok(good.type === 'BatchResponse');
  const ids = good.responses.map((one) => (one.type === 'ToolResponse' ? one.change_id : undefined));
  assert.ok(ids[0] !== undefined && ids[0] === ids[1]);
  assert.deepEqual([text('one.txt'), text('two.txt')], ['one.txt\n', 'two.txt\n']);
  const bad = await session.handleBatch({
    ...{ type: 'BatchRequest', ...envelope, request_id: 'b2', atomic: true },
    calls: [
      write('three.txt', 'd1'),
      { ...write('x', 'd2'), tool: 'file_read', args: { path: 'none' } },
      write('four.txt', 'd3'),
    ],
  });
  assert.ok(bad.type === 'BatchResponse');
  const reasons = bad.responses.map((one) => one.type === 'ToolResponse' && one.errors[0]?.details?.['reason']);
  assert.deepEqual(reasons, ['batch_not_committed', 'ENOENT', 'batch_not_committed']);
  assert.deepEqual(readdirSync(path('.')).sort(), ['one.txt', 'two.txt']);
  assert.deepEqual((await done('change_list'))['transactions'], []);
});

test('a batch of the library is committed when all calls succeed, and every answer says so when not (deep)', async (t) => {
  const { session, path } = await transactionScene(t);
  const items = (last: string) => [
    { tool: 'file_write', args: { path: 'a.txt', content: 'a\n' } },
    { tool: 'file_write', args: { path: last, content: 'b\n' } },
  ];
  const heard: boolean[] = [];
  const failed = await session.batch(items('../out.txt'), { atomic: true, onResponse: ({ ok }) => heard.push(ok) });
  assert.deepEqual(
    [failed.map(({ ok }) => ok), heard, existsSync(path('a.txt'))],
    [[false, false], [false, false], false],
  );
  const done = await session.batch(items('b.txt'), { atomic: true });
  assert.deepEqual(
    [done.map(({ ok }) => ok), readdirSync(path('.')).sort()],
    [
      [true, true],
      ['a.txt', 'b.txt'],
    ],
  );
  await assert.rejects(
    session.batch([{ tool: 'fs_list', args: { glob: '*' }, txId: 'tx-1' }], { atomic: true }),
    /cannot name/,
  );
});

test('what no transaction can hold back is refused in one, and made outside of it (deep)', async (t) => {
  const { done, refused, put } = await transactionScene(t);
  put('a.txt', 'a\n');
  const change = await done('file_write', { path: 'a.txt', content: 'b\n' });
  assert.ok(change);
  const [newest] = (await done('change_list'))['changes'] as { change_id: string }[];
  await done('tx_begin');
  for (const [tool, args] of [
    ['git_commit', { message: 'x' }],
    ['git_stash', { action: 'push' }],
    ['change_undo', { change_id: newest?.change_id }],
  ] as const) {
    assert.equal((await refused(tool, args))['reason'], 'not_in_transaction', tool);
  }
  assert.equal(
    (await refused('shell_exec', { cmd: 'sleep 9', yield_after_ms: 1 }))['reason'],
    'no_jobs_in_transaction',
  );
  assert.equal(
    (await refused('shell_exec', { cmd: 'true', effects: 'preview' }))['reason'],
    'no_preview_in_transaction',
  );
  await done('tx_abort');
  await done('change_undo', { change_id: newest?.change_id });
});

test('a transaction that no call joins expires: nothing of it is real, and calls are refused until that is known', async (t) => {
  const clock = createSystemClock();
  let ahead = 0;
  const ports = { clock: { ...clock, now: () => clock.now() + ahead, monotonic: () => clock.monotonic() + ahead } };
  const { done, refused, path, state } = await transactionScene(t, { registry: 'changes: { tx_minutes: 5 }', ports });
  const { tx_id } = await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'a\n' });
  ahead += 4 * 60_000;
  await done('file_read', { path: 'a.txt' });
  ahead += 4 * 60_000;
  await done('file_read', { path: 'a.txt' });
  ahead += 6 * 60_000;
  for (const tool of ['file_write', 'tx_commit']) {
    const error = await refused(tool, tool === 'tx_commit' ? {} : { path: 'b.txt', content: 'b\n' });
    assert.deepEqual([error['reason'], error['tx_id']], ['tx_expired', tx_id]);
  }
  assert.deepEqual((await done('change_list'))['transactions'], []);
  await done('tx_abort');
  await done('file_write', { path: 'c.txt', content: 'c\n' });
  assert.deepEqual(readdirSync(path('.')), ['c.txt']);
  assert.deepEqual(readdirSync(join(state, 'transactions')), []);
});

test('open transactions are listed, end with their session, and are not visible to a child (deep)', async (t) => {
  const { runtime, session, done, path, state } = await transactionScene(t);
  const own = await runtime.openSession({ actor: 'agent' });
  const began = await own.call('tx_begin', {});
  assert.ok(began.ok);
  await own.call('file_write', { path: 'a.txt', content: 'a\n' });
  const listed = (await done('change_list'))['transactions'] as { tx_id: string; actor: string }[];
  assert.deepEqual(
    listed.map(({ tx_id, actor }) => [tx_id, actor]),
    [[began.data.tx_id, 'agent']],
  );

  const child = await own.openChild({ agentId: 'child', tools: { type: 'inherit_allowlist' } } as never);
  const read = await child.call('file_read', { path: 'a.txt' });
  assert.equal(read.ok, false, 'a child works outside of the transaction');
  const named = await child.call('file_read', { path: 'a.txt' }, { txId: began.data.tx_id });
  assert.equal(named.errors[0]?.details?.['reason'], 'unknown_tx');
  const seen = await child.call('change_list', {});
  assert.ok(seen.ok);
  assert.deepEqual(seen.data.transactions, []);

  const foreign = await session.call('file_read', { path: 'a.txt' }, { txId: began.data.tx_id });
  assert.equal(foreign.errors[0]?.details?.['reason'], 'unknown_tx');
  await own.close({ children: 'end' });
  assert.equal(existsSync(path('a.txt')), false);
  assert.deepEqual((await done('change_list'))['transactions'], []);
  assert.deepEqual(readdirSync(join(state, 'transactions')), []);
});

test('a session has at most eight open transactions (deep)', async (t) => {
  const { done, refused } = await transactionScene(t);
  for (let count = 0; count < 8; count++) await done('tx_begin');
  assert.equal((await refused('tx_begin'))['reason'], 'too_many_transactions');
  await done('tx_abort');
  await done('tx_begin');
});

test('a command that runs before it is approved cannot be part of a transaction, and runs outside of one (deep)', async (t) => {
  const approvals = { ask: async () => ({ answer: 'approved' as const, by: 'anna' }) };
  const registry = 'ask: with_effects\nshell_ask: ["^touch"]';
  const { done, refused, path } = await transactionScene(t, { registry, approvals });
  await done('tx_begin');
  assert.equal((await refused('shell_exec', { cmd: 'touch asked' }))['reason'], 'not_in_transaction');
  await done('shell_exec', { cmd: 'echo not asked > free' });
  await done('tx_abort');
  await done('shell_exec', { cmd: 'touch asked' });
  assert.deepEqual(readdirSync(path('.')), ['asked']);
});

for (const [nth, what] of [
  [1, 'cannot be begun'],
  [2, 'has a result that cannot be recorded'],
] as const) {
  test(`a call that ${what} ends its transaction, which may be what fills the disk`, async (t) => {
    const faults = createFaults({ nth, mode: 'onwards', fault: () => new Error('disk full') });
    const wrapParts = (parts: RuntimeParts) => ({ ...parts, journal: faults.wrap(parts).journal });
    const { session, state, done, refused, path } = await transactionScene(t, { ports: { wrapParts } });
    const tx_id = String((await done('tx_begin'))['tx_id']);
    await done('file_write', { path: 'a.txt', content: 'a\n' });
    faults.armed = true;
    const lost = await session.call('file_write', { path: 'b.txt', content: 'b\n' });
    faults.armed = false;
    assert.ok(lost.errors.some(({ details }) => details?.['reason'] === 'recovery_required'));
    assert.deepEqual(readdirSync(join(state, 'transactions')), []);
    assert.equal((await refused('file_read', { path: 'a.txt' }))['reason'], 'tx_expired');
    await done('tx_abort', { tx_id });
    await done('file_write', { path: 'c.txt', content: 'c\n' });
    assert.deepEqual(
      ['a.txt', 'b.txt', 'c.txt'].map((name) => existsSync(path(name))),
      [false, false, true],
    );
  });
}
