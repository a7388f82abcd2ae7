import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { type BatchCall, type Footprint, runBatch } from './run-batch.ts';

const reads = (...keys: string[]): Footprint => ({ readOnly: true, keys: new Set(keys) });
const writes = (...keys: string[]): Footprint => ({ readOnly: false, keys: new Set(keys) });
const anything: Footprint = { readOnly: false, keys: undefined };

function response(id: string): ToolResponse {
  return {
    type: 'ToolResponse',
    ok: true,
    tool: id,
    request_id: id,
    duration_ms: 0,
    data: null,
    errors: [],
    warnings: [],
  };
}

/** Runs calls that take the given number of turns and logs when each starts and ends. */
async function schedule(
  footprints: readonly Footprint[],
  strategy: ToolExecutionStrategy,
  turns: readonly number[] = [],
) {
  const log: string[] = [];
  const released: number[] = [];
  let inFlight = 0;
  let most = 0;
  const calls: BatchCall<ToolResponse>[] = footprints.map((footprint, index) => ({
    footprint,
    async run() {
      log.push(`+${index}`);
      most = Math.max(most, ++inFlight);
      for (let turn = 0; turn < (turns[index] ?? 3); turn++) await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      log.push(`-${index}`);
      return response(String(index));
    },
  }));
  const answers = await runBatch(calls, strategy, (_answer, index) => released.push(index));
  assert.deepEqual(
    answers.map((answer) => answer.request_id),
    footprints.map((_, index) => String(index)),
  );
  return { log, released, most };
}

describe('batch strategies [S1-32]', () => {
  test('sequential runs one at a time in request order [S1-32]', async () => {
    const { log, most } = await schedule([reads('a'), reads('b'), writes('c')], { type: 'sequential' });
    assert.equal(most, 1);
    assert.deepEqual(log, ['+0', '-0', '+1', '-1', '+2', '-2']);
  });

  test('bounded_concurrent overlaps reads up to the limit and releases answers when ready [S1-32]', async () => {
    const footprints = [reads('a'), reads('b'), reads('c')];
    const { released, most } = await schedule(footprints, { type: 'bounded_concurrent', max_in_flight: 2 }, [20, 1, 1]);
    assert.equal(most, 2);
    assert.deepEqual(released, [1, 2, 0]);
  });

  test('ordered_batch overlaps too but releases answers in request order [S1-32]', async () => {
    const footprints = [reads('a'), reads('b'), reads('c')];
    const { released, most } = await schedule(footprints, { type: 'ordered_batch', max_in_flight: 3 }, [20, 1, 1]);
    assert.equal(most, 3);
    assert.deepEqual(released, [0, 1, 2]);
  });

  test('a mutating call with an unknown reach is a barrier [S2-19]', async () => {
    const { log } = await schedule([reads('a'), anything, reads('b')], {
      type: 'bounded_concurrent',
      max_in_flight: 3,
    });
    assert.deepEqual(log, ['+0', '-0', '+1', '-1', '+2', '-2']);
  });

  test('mutating calls with disjoint lock sets overlap, with a common one they do not [S2-19]', async () => {
    const disjoint = await schedule([writes('a'), writes('b')], { type: 'bounded_concurrent', max_in_flight: 2 });
    assert.equal(disjoint.most, 2);
    const common = await schedule([writes('a', 'x'), writes('x')], { type: 'bounded_concurrent', max_in_flight: 2 });
    assert.equal(common.most, 1);
  });

  test('a failing call does not keep its siblings from running [S1-32]', async () => {
    const ran: number[] = [];
    const call = (index: number): BatchCall<ToolResponse> => ({
      footprint: writes('same'),
      async run() {
        ran.push(index);
        return { ...response(String(index)), ok: index !== 0 };
      },
    });
    await runBatch([call(0), call(1)], { type: 'sequential' }, () => {});
    assert.deepEqual(ran, [0, 1]);
  });

  test('whatever the mix, the limit holds and conflicting calls keep their order [S1-32]', async () => {
    const footprint = fc.oneof(
      fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((keys) => reads(...keys)),
      fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((keys) => writes(...keys)),
      fc.constant(anything),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(footprint, { maxLength: 8 }), fc.integer({ min: 1, max: 4 }), async (list, limit) => {
        const { log, most } = await schedule(list, { type: 'bounded_concurrent', max_in_flight: limit }, [2, 0, 3, 1]);
        assert.ok(most <= limit);
        for (const [later, b] of list.entries()) {
          for (const [earlier, a] of list.slice(0, later).entries()) {
            const bothRead = a.readOnly && b.readOnly;
            const apart = a.keys !== undefined && b.keys !== undefined && a.keys.isDisjointFrom(b.keys);
            if (!bothRead && !apart) assert.ok(log.indexOf(`-${earlier}`) < log.indexOf(`+${later}`));
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
