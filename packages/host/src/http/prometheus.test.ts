import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { ToolTotals, Totals } from '@tool-runtime/sdk';
import { DURATION_BOUNDS_MS } from '@tool-runtime/sdk/telemetry';
import { createCounter, nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { renderMetrics } from './prometheus.ts';

/** scripts/setup-system provides it. */
const CHECKER = 'promtool';

const auth = { failures: { token_invalid: 5 }, limited: 2, sources: 1 };
const host = {
  sessions: 2,
  connections: 1,
  inFlight: 3,
  approvals: 0,
  uptime: 12.5,
  memory: 1e8,
  eventsMissed: 4,
  auth,
};

function totals(calls: readonly number[], rest: Partial<ToolTotals> = {}): ToolTotals {
  const durations = [...DURATION_BOUNDS_MS, Number.POSITIVE_INFINITY].map((_, step) => calls[step] ?? 0);
  const count = calls.reduce((sum, each) => sum + each, 0);
  const waits = { lockWaits: 0, lockWaitMs: 0, approvalWaits: 0, approvalWaitMs: 0 };
  const none = { errors: 0, errorCodes: {}, denials: 0, bytes: 0, filesTouched: 0, ...waits };
  return { calls: count, durationMs: 1500, maxDurationMs: 1500, durations, ...none, ...rest };
}

function samples(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

/** The real checker: what it accepts, Prometheus reads. It prints complaints of its linter and fails on them. */
function promtool(text: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(CHECKER, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

describe('renderMetrics', () => {
  test('promtool reads what a real runtime counted and has nothing to complain about [S0-79]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing, createCounter().tool] });
    await session.call('file_write', { path: 'a', content: 'abc' });
    await session.call('probe_nothing', {});
    await session.call('probe_nothing', { bad: true });
    await session.call('probe_count', { fail: true });
    await session.call('un"known\\', {});
    const text = renderMetrics({ totals: [runtime.metrics.totals()], host });
    await dispose();
    assert.deepEqual(promtool(text), { status: 0, output: '' });
    assert.deepEqual(samples(text, 'tool_runtime_call_errors_total'), [
      'tool_runtime_call_errors_total{tool="(unknown)",code="E_POLICY"} 1',
      'tool_runtime_call_errors_total{tool="probe_count",code="E_INTERNAL"} 1',
      'tool_runtime_call_errors_total{tool="probe_nothing",code="E_VALIDATION_FAIL"} 1',
    ]);
    assert.deepEqual(samples(text, 'tool_runtime_bytes_total')[1], 'tool_runtime_bytes_total{tool="file_write"} 3');
    assert.notEqual(promtool(text.replace(/^# HELP .*\n/, '')).status, 0, 'the checker can complain');
  });

  test('a host without a single call is valid too [S0-79]', () => {
    const text = renderMetrics({ totals: [], host });
    assert.deepEqual(promtool(text), { status: 0, output: '' });
    assert.deepEqual(samples(text, 'tool_runtime_sessions'), ['tool_runtime_sessions 2']);
    assert.deepEqual(samples(text, 'tool_runtime_uptime_seconds'), ['tool_runtime_uptime_seconds 12.5']);
  });

  test('buckets are cumulative, in seconds, and end with all calls [S0-79]', () => {
    const text = renderMetrics({ totals: [{ t: totals([1, 2, ...new Array<number>(16).fill(0), 4]) }], host });
    const buckets = samples(text, 'tool_runtime_call_duration_seconds_bucket');
    assert.equal(buckets.length, DURATION_BOUNDS_MS.length + 1);
    assert.deepEqual(
      [buckets[0], buckets[1], buckets.at(-2), buckets.at(-1)],
      [
        'tool_runtime_call_duration_seconds_bucket{tool="t",le="0.0001"} 1',
        'tool_runtime_call_duration_seconds_bucket{tool="t",le="0.00025"} 3',
        'tool_runtime_call_duration_seconds_bucket{tool="t",le="600"} 3',
        'tool_runtime_call_duration_seconds_bucket{tool="t",le="+Inf"} 7',
      ],
    );
    assert.deepEqual(samples(text, 'tool_runtime_call_duration_seconds_sum'), [
      'tool_runtime_call_duration_seconds_sum{tool="t"} 1.5',
    ]);
    assert.deepEqual(samples(text, 'tool_runtime_call_duration_seconds_count'), [
      'tool_runtime_call_duration_seconds_count{tool="t"} 7',
    ]);
  });

  test('runtimes are added up, so that no series stands twice [S0-79]', () => {
    const one: Totals = { t: totals([1], { lockWaits: 1, lockWaitMs: 250, denials: 1 }) };
    const text = renderMetrics({ totals: [one, one], host });
    assert.deepEqual(samples(text, 'tool_runtime_calls_total'), ['tool_runtime_calls_total{tool="t"} 2']);
    assert.deepEqual(samples(text, 'tool_runtime_call_denials_total'), ['tool_runtime_call_denials_total{tool="t"} 2']);
    assert.deepEqual(samples(text, 'tool_runtime_lock_wait_seconds_total'), [
      'tool_runtime_lock_wait_seconds_total{tool="t"} 0.5',
    ]);
    assert.deepEqual(promtool(text), { status: 0, output: '' });
  });

  test('a name with quotes, backslashes and line ends stays inside its label [S0-79]', () => {
    const text = renderMetrics({ totals: [{ 'a"b\\c\nd': totals([1]) }], host });
    assert.deepEqual(samples(text, 'tool_runtime_calls_total'), ['tool_runtime_calls_total{tool="a\\"b\\\\c\\nd"} 1']);
    assert.deepEqual(promtool(text), { status: 0, output: '' });
  });
});
