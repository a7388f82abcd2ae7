/** An atomic batch whose calls have keys, sent again: what was committed is answered from the record and never made twice. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRuntime } from '../src/runtime.ts';
import { transactionScene } from './transaction-scene.ts';

const line = (text: string, key?: string) => ({
  tool: 'file_write',
  args: { path: 'log.txt', content: `${text}\n`, append: true },
  ...(key === undefined ? {} : { idempotencyKey: key }),
});
const move = { tool: 'fs_move', args: { src: 'from.txt', dst: 'to.txt' } };
const read = { tool: 'file_read', args: { path: 'to.txt' } };
const ATOMIC = { atomic: true } as const;
const seen = (answers: readonly { ok: boolean; data: unknown; change_id?: string | undefined; errors: unknown }[]) =>
  answers.map(({ ok, data, change_id, errors }) => ({ ok, data, change_id, errors }));

test('a batch that was committed is answered as before, by the same runtime and by the next one', async (t) => {
  const { session, runtime, workspace, state, put, text, path } = await transactionScene(t);
  const registry = { file: 'registry.yaml', text: 'version: 1\nshell: { mode: sandboxed }\n' };
  put('from.txt', 'moved\n');
  put('log.txt', '');
  const batch = [line('one', 'k1'), move, read];
  const first = await session.batch(batch, ATOMIC);
  assert.deepEqual(
    first.map(({ ok }) => ok),
    [true, true, true],
    JSON.stringify(first),
  );
  put('to.txt', 'changed since\n');
  const again = await session.batch(batch, ATOMIC);
  assert.deepEqual(seen(again), seen(first));
  assert.ok(first[0]?.change_id?.startsWith('tx-'));
  await runtime.close();
  const next = await createRuntime({ workspace, state, registry });
  t.after(() => next.close());
  const other = await next.openSession();
  const later = await other.batch(batch, ATOMIC);
  assert.deepEqual(
    [text('log.txt'), text('to.txt'), existsSync(path('from.txt'))],
    ['one\n', 'changed since\n', false],
  );
  assert.deepEqual(seen(later), seen(first));
  assert.deepEqual(readdirSync(join(state, 'transactions')), [], 'nothing is left open');
});

test('the same keys with other calls are refused, and new keys run (deep)', async (t) => {
  const { session, put, text } = await transactionScene(t);
  put('log.txt', '');
  await session.batch([line('one', 'k1'), line('two', 'k2')], ATOMIC);
  const other = await session.batch([line('one', 'k1'), line('three', 'k2')], ATOMIC);
  assert.deepEqual(
    other.map(({ errors }) => [errors[0]?.details?.['reason'], (errors[0]?.details?.['cause'] as never)?.['reason']]),
    [
      ['batch_not_committed', 'key_conflict'],
      ['batch_not_committed', 'key_conflict'],
    ],
  );
  assert.equal(text('log.txt'), 'one\ntwo\n');
  const fresh = await session.batch([line('one', 'k3'), line('two', 'k4')], ATOMIC);
  assert.ok(fresh.every(({ ok }) => ok));
  assert.equal(text('log.txt'), 'one\ntwo\none\ntwo\n');
});

test('a batch that was not committed runs when it is sent again, and batches without keys always run (deep)', async (t) => {
  const { session, put, text } = await transactionScene(t);
  put('log.txt', '');
  const batch = [line('one', 'k1'), move];
  assert.deepEqual(
    (await session.batch(batch, ATOMIC)).map(({ ok }) => ok),
    [false, false],
  );
  assert.equal(text('log.txt'), '');
  put('from.txt', 'there now\n');
  assert.deepEqual(
    (await session.batch(batch, ATOMIC)).map(({ ok }) => ok),
    [true, true],
  );
  for (const _ of [1, 2]) await session.batch([line('free')], ATOMIC);
  assert.equal(text('log.txt'), 'one\nfree\nfree\n');
});

test('two batches with the same keys at the same time are committed once (deep)', async (t) => {
  const { session, put, text } = await transactionScene(t);
  put('log.txt', '');
  const batch = [line('one', 'k1')];
  const both = await Promise.all([session.batch(batch, ATOMIC), session.batch(batch, ATOMIC)]);
  assert.equal(text('log.txt'), 'one\n');
  assert.ok(both.flat().some(({ ok }) => ok));
  assert.ok((await session.batch(batch, ATOMIC)).every(({ ok }) => ok));
  assert.equal(text('log.txt'), 'one\n');
});

test('an envelope that is sent again whole is answered again (deep)', async (t) => {
  const { session, put, text } = await transactionScene(t);
  put('log.txt', '');
  const { args, tool } = line('one');
  const envelope = {
    ...{ type: 'BatchRequest', request_id: 'b1', session_id: session.id, timestamp: 0, atomic: true },
    calls: [{ request_id: 'c1', tool, args, idempotency_key: 'k1' }],
  } as const;
  const [one, two] = [await session.handleBatch(envelope as never), await session.handleBatch(envelope as never)];
  assert.ok(one.type === 'BatchResponse' && two.type === 'BatchResponse', JSON.stringify(two));
  assert.deepEqual(seen(two.responses as never), seen(one.responses as never));
  assert.equal(text('log.txt'), 'one\n');
});

test('a session that may not make a call is not told what it was answered (deep)', async (t) => {
  const { session, runtime, put } = await transactionScene(t);
  put('log.txt', '');
  const batch = [line('one', 'k1')];
  await session.batch(batch, ATOMIC);
  const allowed = (names: string) => ({ file: 's.yaml', text: `version: 1\nallowed_tools: [${names}]\n` });
  const open = (names: string) => runtime.openSession({ registry: allowed(names) });
  const [refused] = await (await open('tx_begin, tx_commit, tx_abort, fs_delete, file_edit')).batch(batch, ATOMIC);
  assert.deepEqual([refused?.ok, refused?.errors[0]?.code], [false, 'E_POLICY']);
  const [told] = await (await open('tx_begin, tx_commit, tx_abort, fs_delete, file_write')).batch(batch, ATOMIC);
  assert.equal(told?.ok, true, JSON.stringify(told));
});

test('keys of another actor are other keys (deep)', async (t) => {
  const { session, runtime, put, text } = await transactionScene(t);
  put('log.txt', '');
  const batch = [line('one', 'k1')];
  const other = await runtime.openSession({ actor: 'someone else' });
  for (const one of [session, other]) assert.ok((await one.batch(batch, ATOMIC)).every(({ ok }) => ok));
  assert.equal(text('log.txt'), 'one\none\n');
});
