import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultTextMapGetter, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import fc from 'fast-check';
import { readTraceParent } from './trace-parent.ts';

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
