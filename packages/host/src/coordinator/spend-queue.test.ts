import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { CoordinatorSpendBody } from '@tool-runtime/protocol';
import { createSpendQueue } from './spend-queue.ts';

const spent = (call: number): CoordinatorSpendBody['spent'][number] => ({
  call_id: `c${call}`,
  session_id: 's1',
  tool: 'file_read',
  actor: 'ann',
  client: 'suite/1',
  status: 'completed',
  bytes: 1,
  duration_ms: 1,
});

function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const batches: CoordinatorSpendBody[] = [];
  const state = { isDead: false };
  const queue = createSpendQueue(async (body) => {
    if (state.isDead) throw new TypeError('dead');
    batches.push(body);
  });
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const calls = () => batches.flatMap((batch) => batch.spent.map(({ call_id }) => call_id));
  return { batches, state, queue, pass, calls };
}

describe('the queue of reports', () => {
  test('gathers for a moment and sends together, in order [S0-75]', async (t) => {
    const { queue, pass, batches, calls } = open(t);
    for (const call of [1, 2, 3]) queue.add(spent(call));
    await pass(249);
    assert.equal(batches.length, 0);
    await pass(1);
    assert.deepEqual([batches.length, calls()], [1, ['c1', 'c2', 'c3']]);
  });

  test('sends a full batch at once [S0-75]', async (t) => {
    const { queue, pass, batches } = open(t);
    for (let call = 0; call < 100; call++) queue.add(spent(call));
    await pass(0);
    assert.equal(batches[0]?.spent.length, 100);
  });

  test('keeps what could not be sent and tries again after growing pauses [S0-75]', async (t) => {
    const { queue, pass, calls, state } = open(t);
    state.isDead = true;
    queue.add(spent(1));
    await pass(250);
    await pass(1_000);
    state.isDead = false;
    queue.add(spent(2));
    await pass(1_999);
    assert.deepEqual(calls(), []);
    await pass(1);
    assert.deepEqual(calls(), ['c1', 'c2']);
  });

  test('is bounded: the oldest go, and their number is told once [S0-75]', async (t) => {
    const { queue, pass, batches, calls, state } = open(t);
    state.isDead = true;
    for (let call = 0; call < 1_500; call++) queue.add(spent(call));
    await pass(250);
    state.isDead = false;
    for (let round = 0; round < 20; round++) await pass(1_000);
    assert.equal(calls().length, 1_000);
    assert.equal(calls()[0], 'c500');
    assert.deepEqual(
      batches.map(({ dropped }) => dropped),
      [500, ...Array.from({ length: 9 }, () => 0)],
    );
  });

  test('closing sends the rest once and gives up on a dead receiver [S0-75]', async (t) => {
    const living = open(t);
    for (let call = 0; call < 150; call++) living.queue.add(spent(call));
    await living.queue.close();
    assert.equal(living.calls().length, 150);
    living.queue.add(spent(151));
    await living.queue.close();
    assert.equal(living.calls().length, 150);
    t.mock.timers.reset();
    const dead = open(t);
    dead.state.isDead = true;
    dead.queue.add(spent(1));
    await dead.queue.close();
    assert.deepEqual(dead.calls(), []);
  });
});
