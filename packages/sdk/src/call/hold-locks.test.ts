import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defineTool } from '../contracts/tool.ts';
import { createCounter } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

/** Holds the whole workspace until told to let go. */
function createHolder() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: running, resolve: started } = Promise.withResolvers<void>();
  const tool = defineTool({
    ...createCounter('probe_hold').tool,
    args: z.strictObject({}),
    run: async () => {
      started();
      await released;
      return {};
    },
  });
  return { tool, running, release };
}

const waits = (totals: { lockWaits: number; lockWaitMs: number } | undefined) => [
  totals?.lockWaits,
  (totals?.lockWaitMs ?? 0) > 0,
];

describe('locks of a call', () => {
  test('a wait is counted for the tool that waited; a free lock counts as no wait [S0-79]', async () => {
    const holder = createHolder();
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [holder.tool, createCounter().tool] });
    await session.call('probe_count', {});
    assert.deepEqual(waits(session.metrics()['probe_count']), [0, false]);
    const holding = session.call('probe_hold', {});
    await holder.running;
    const waiting = session.call('probe_count', {});
    setTimeout(holder.release, 20);
    assert.deepEqual([(await holding).ok, (await waiting).ok], [true, true]);
    assert.deepEqual(waits(session.metrics()['probe_count']), [1, true]);
    assert.deepEqual(waits(runtime.metrics.totals()['probe_hold']), [0, false]);
    await dispose();
  });

  test('a wait in vain is counted too [S0-79]', async () => {
    const holder = createHolder();
    const { session, dispose } = await openScratchRuntime({
      tools: [holder.tool, createCounter().tool],
      registry: { file: 'r.yaml', text: 'version: 1\nlimits: { lock_wait_ms: 5 }\n' },
    });
    const holding = session.call('probe_hold', {});
    await holder.running;
    assert.equal((await session.call('probe_count', {})).errors[0]?.code, 'E_TIMEOUT');
    assert.deepEqual(waits(session.metrics()['probe_count']), [1, true]);
    holder.release();
    await holding;
    await dispose();
  });
});
