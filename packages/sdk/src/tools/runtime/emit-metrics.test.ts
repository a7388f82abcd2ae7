import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { MetricsRollup } from '../../contracts/telemetry.ts';
import { createCounter, nothing } from '../../testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

async function withScratch(use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ tools: [nothing, createCounter().tool] });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

describe('emit_metrics', () => {
  test('answers with figures per tool and together, of this session alone [S0-58 S0-79]', () =>
    withScratch(async ({ runtime, session }) => {
      const other = await runtime.openSession();
      await other.call('probe_nothing', {});
      await session.call('probe_nothing', {});
      await session.call('probe_nothing', { bad: true });
      await session.call('probe_count', { fail: true });
      await session.call('no_such_tool', {});
      const response = await session.call('emit_metrics', {});
      assert.equal(response.ok, true);
      const { rollup, ...rest } = response.data as unknown as { rollup: MetricsRollup };
      assert.deepEqual(rest, { status: 'emitted', session_id: session.id, interval: 0 });
      const { calls, errors, denials, error_codes, durations } = rollup.tools['probe_nothing']!;
      assert.deepEqual(
        { calls, errors, denials, error_codes },
        { calls: 2, errors: 1, denials: 1, error_codes: { E_VALIDATION_FAIL: 1 } },
      );
      assert.equal(durations.length, rollup.duration_bounds_ms.length + 1);
      assert.equal(
        durations.reduce((sum, count) => sum + count, 0),
        2,
      );
      assert.deepEqual(Object.keys(rollup.tools).sort(), ['(unknown)', 'probe_count', 'probe_nothing']);
      assert.deepEqual([rollup.total.calls, rollup.total.errors, rollup.total.denials], [4, 3, 2]);
      const later = (await session.call('emit_metrics', {})).data as unknown as { rollup: MetricsRollup };
      assert.equal(later.rollup.tools['emit_metrics']?.calls, 1);
    }));

  test('announces a Metrics event before its answer, with the id of the request [S0-58]', () =>
    withScratch(async ({ session }) => {
      const seen: unknown[] = [];
      session.listen(({ message }) => seen.push([message.event, message.request_id, message.data?.['interval']]), {
        events: 'progress',
      });
      const { data } = await session.call('emit_metrics', { interval: 3600 }, { requestId: 'r1' });
      assert.equal((data as { status: string }).status, 'scheduled');
      assert.deepEqual(seen, [['Metrics', 'r1', 3600]]);
    }));

  test('repeats the event at the interval until the session ends [S0-58] (deep)', () =>
    withScratch(async ({ runtime, session }) => {
      const alive = setInterval(() => {}, 1000);
      const repeated = new Promise((resolve) =>
        session.listen(({ message }) => {
          if (message.event === 'Metrics' && message.request_id === session.id) resolve(message.data?.['interval']);
        }),
      );
      await session.call('emit_metrics', { interval: 1 });
      assert.equal(await repeated, 1);
      await session.close();
      const late: string[] = [];
      runtime.events.listen(session.id, ({ message }) => late.push(message.event));
      await pause(1100);
      assert.deepEqual(late, []);
      clearInterval(alive);
    }));

  test('4.3 another session is E_POLICY; the own one by name is not [S0-58]', () =>
    withScratch(async ({ runtime, session }) => {
      const other = await runtime.openSession();
      const refused = await session.call('emit_metrics', { session_id: other.id });
      assert.deepEqual([refused.errors[0]?.code, refused.errors[0]?.path], ['E_POLICY', 'session_id']);
      assert.equal((await session.call('emit_metrics', { session_id: session.id })).ok, true);
    }));

  test('an interval that is no whole number of seconds up to an hour is refused [S0-58]', () =>
    withScratch(async ({ session }) => {
      for (const interval of [-1, 0.5, 3601, '1']) {
        assert.equal((await session.call('emit_metrics' as string, { interval })).errors[0]?.code, 'E_VALIDATION_FAIL');
      }
      assert.equal((await session.call('emit_metrics', { interval: 3600 })).ok, true);
    }));
});
