import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import type { CallEnd, CallStart, CallTelemetry } from '../contracts/telemetry.ts';
import { nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

const broken = (): never => {
  throw new TypeError('telemetry broke');
};

describe('the span of a call', () => {
  test('hears who calls what, the stages and the end, once each', async () => {
    const seen: { starts: CallStart[]; stages: string[]; ends: CallEnd[] } = { starts: [], stages: [], ends: [] };
    const telemetry: CallTelemetry = {
      startCall(call) {
        seen.starts.push(call);
        return { stage: (name) => seen.stages.push(name), end: (end) => seen.ends.push(end) };
      },
    };
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], telemetry }, { actor: 'ann' });
    await session.call('probe_nothing', {}, { requestId: 'r1', traceparent: 'as sent' });
    await dispose();
    const { callId, ...start } = seen.starts[0]!;
    assert.notEqual(callId, 'r1');
    assert.deepEqual(start, {
      tool: 'probe_nothing',
      sessionId: session.id,
      requestId: 'r1',
      actor: 'ann',
      traceparent: 'as sent',
      tracestate: undefined,
    });
    assert.deepEqual([seen.starts.length, seen.ends.length, seen.ends[0]?.status], [1, 1, 'completed']);
    assert.equal(new Set(seen.stages).size, seen.stages.length);
  });

  test('a telemetry that throws anywhere never breaks a call, is reported once for it and then left alone', async () => {
    let stages = 0;
    const brokenSpans: Record<string, CallTelemetry> = {
      start: { startCall: broken },
      stage: {
        startCall: () => ({
          stage: () => {
            stages += 1;
            broken();
          },
          end: () => assert.fail('a broken span is not used again'),
        }),
      },
      end: { startCall: () => ({ stage: () => {}, end: broken }) },
    };
    for (const [where, telemetry] of Object.entries(brokenSpans)) {
      const reported: ToolError[] = [];
      const onUnexpected = (error: ToolError) => void reported.push(error);
      const { session, dispose } = await openScratchRuntime({ tools: [nothing], telemetry, onUnexpected });
      assert.equal((await session.call('probe_nothing', {})).ok, true, where);
      assert.equal(reported.length, 1, where);
      await dispose();
    }
    assert.equal(stages, 1);
  });

  test('a telemetry may leave a call out', async () => {
    const telemetry = { startCall: () => undefined };
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], telemetry });
    assert.equal((await session.call('probe_nothing', {})).ok, true);
    await dispose();
  });
});
