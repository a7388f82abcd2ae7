import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { defaultTextMapGetter, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { createCounter, nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../testing/scratch-runtime.ts';
import { ATTRIBUTES, OTEL_METRICS } from './names.ts';
import { createOpenTelemetry, readTraceParent } from './open-telemetry.ts';

interface Scene extends ScratchRuntime {
  readonly spans: InMemorySpanExporter;
  collect(name: string): Promise<readonly DataPoint<unknown>[]>;
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const telemetry = createOpenTelemetry({ tracerProvider, meterProvider });
  const scratch = await openScratchRuntime({ tools: [nothing, createCounter().tool], telemetry });
  const collect = async (name: string) => {
    await reader.forceFlush();
    const all =
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return all.find((metric) => metric.descriptor.name === name)?.dataPoints ?? [];
  };
  try {
    await use({ ...scratch, spans, collect });
  } finally {
    await scratch.dispose();
    await meterProvider.shutdown();
    await tracerProvider.shutdown();
  }
}

describe('OpenTelemetry', () => {
  test('one span per call, with its stages in order, and nothing of its arguments [S0-79]', () =>
    withScene(async ({ session, spans, workspace }) => {
      writeFileSync(join(workspace, 'confidential-name.txt'), 'confidential-content');
      await session.call('file_read', { path: 'confidential-name.txt' }, { requestId: 'r1' });
      const [span, ...others] = spans.getFinishedSpans();
      assert.equal(others.length, 0);
      assert.deepEqual(
        [span?.name, span?.kind, span?.status.code],
        ['execute_tool file_read', SpanKind.INTERNAL, SpanStatusCode.UNSET],
      );
      assert.deepEqual(
        span?.events.map((event) => event.name),
        ['pre-check', 'locks', 'intent', 'execute', 'sync', 'validate', 'result', 'emit'],
      );
      const { [ATTRIBUTES.callId]: callId, ...attributes } = span?.attributes ?? {};
      assert.equal(typeof callId, 'string');
      assert.deepEqual(attributes, {
        [ATTRIBUTES.operation]: 'execute_tool',
        [ATTRIBUTES.tool]: 'file_read',
        [ATTRIBUTES.sessionId]: session.id,
        [ATTRIBUTES.requestId]: 'r1',
        [ATTRIBUTES.actor]: 'local',
        [ATTRIBUTES.status]: 'completed',
        [ATTRIBUTES.bytes]: 20,
        [ATTRIBUTES.filesTouched]: 0,
        [ATTRIBUTES.mutationClass]: 'read_only',
      });
      assert.doesNotMatch(JSON.stringify([span?.attributes, span?.events]), /confidential/);
    }));

  test('a refused call is a span with an error, and an unknown tool has a bounded name [S0-79]', () =>
    withScene(async ({ session, spans }) => {
      await session.call('confidential_tool', {});
      const [span] = spans.getFinishedSpans();
      assert.deepEqual([span?.name, span?.status.code], ['execute_tool (unknown)', SpanStatusCode.ERROR]);
      assert.deepEqual(
        [span?.attributes[ATTRIBUTES.errorType], span?.attributes[ATTRIBUTES.status]],
        ['E_POLICY', 'denied_before_execution'],
      );
    }));

  test("the trace context of the envelope makes the span a child of the caller's; a broken one does not [S0-79]", () =>
    withScene(async ({ session, spans }) => {
      const envelope = {
        type: 'ToolRequest',
        tool: 'probe_nothing',
        args: {},
        session_id: session.id,
        timestamp: 1,
      } as const;
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      await session.handle({ ...envelope, request_id: 'r1', traceparent, tracestate: 'congo=1' });
      await session.call('probe_nothing', {}, { traceparent: 'nonsense' });
      const [child, root] = spans.getFinishedSpans();
      assert.deepEqual(
        [child?.spanContext().traceId, child?.parentSpanContext?.spanId, child?.spanContext().traceState?.get('congo')],
        ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', '1'],
      );
      assert.equal(root?.parentSpanContext, undefined);
    }));

  test('metrics count calls by tool and outcome, and their time in seconds [S0-79]', () =>
    withScene(async ({ session, collect }) => {
      await session.call('file_write', { path: 'a.txt', content: 'abc' });
      await session.call('probe_nothing', {});
      await session.call('probe_nothing', {});
      await session.call('probe_nothing', { bad: 1 });
      const calls = (await collect(OTEL_METRICS.calls.name)).map(({ attributes, value }) => [
        attributes[ATTRIBUTES.tool],
        attributes[ATTRIBUTES.status],
        attributes[ATTRIBUTES.errorType],
        value,
      ]);
      assert.deepEqual(calls, [
        ['file_write', 'completed', undefined, 1],
        ['probe_nothing', 'completed', undefined, 2],
        ['probe_nothing', 'denied_before_execution', 'E_VALIDATION_FAIL', 1],
      ]);
      const [, duration] = await collect(OTEL_METRICS.callDuration.name);
      const histogram = duration?.value as Histogram | undefined;
      const bounds = histogram?.buckets.boundaries;
      assert.deepEqual([histogram?.count, bounds?.[0], bounds?.at(-1)], [2, 0.0001, 600]);
      assert.deepEqual(
        (await collect(OTEL_METRICS.bytes.name)).map(({ value }) => value),
        [3],
      );
      assert.deepEqual(
        (await collect(OTEL_METRICS.filesTouched.name)).map(({ value }) => value),
        [1],
      );
    }));

  test('without an SDK behind the API calls run as ever', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], telemetry: createOpenTelemetry() });
    assert.equal((await session.call('probe_nothing', {})).ok, true);
    await dispose();
  });
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('readTraceParent', () => {
  test('takes ids, flags and the state of the vendor', () => {
    const context = readTraceParent(`00-${TRACE}-${SPAN}-01`, 'congo=t61rcWkgMzE');
    assert.deepEqual(
      [context?.traceId, context?.spanId, context?.traceFlags, context?.isRemote, context?.traceState?.get('congo')],
      [TRACE, SPAN, 1, true, 't61rcWkgMzE'],
    );
  });

  test('ignores what is malformed, zero or of the forbidden version, and takes a later version with more fields', () => {
    const zero = `00-${'0'.repeat(32)}-${SPAN}-01`;
    for (const bad of ['', 'x', `ff-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01-more`, zero, `00-${TRACE}-${SPAN}`]) {
      assert.equal(readTraceParent(bad, undefined), undefined, bad);
    }
    assert.equal(readTraceParent(`01-${TRACE}-${SPAN}-01-more`, undefined)?.traceId, TRACE);
  });

  test("agrees with OpenTelemetry's own propagator", () => {
    const propagator = new W3CTraceContextPropagator();
    const hex = (length: number) =>
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length }),
        },
        { weight: 1, arbitrary: fc.constantFrom('0'.repeat(length), 'f'.repeat(length), 'F'.repeat(length), 'g') },
      );
    const text = fc
      .tuple(hex(2), hex(32), hex(16), hex(2), fc.constantFrom('', '', '-x'))
      .map(([version, traceId, spanId, flags, rest]) => `${version}-${traceId}-${spanId}-${flags}${rest}`);
    fc.assert(
      fc.property(text, (traceparent) => {
        const extracted = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter));
        const ours = readTraceParent(traceparent, undefined);
        assert.deepEqual(
          [ours?.traceId, ours?.spanId, ours?.traceFlags],
          [extracted?.traceId, extracted?.spanId, extracted?.traceFlags],
        );
      }),
      { numRuns: 500 },
    );
  });
});
