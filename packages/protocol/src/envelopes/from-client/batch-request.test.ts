import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { MAX_BATCH_CALLS } from '../fields.ts';
import { batchRequestSchema } from './batch-request.ts';

const [call] = SAMPLES.BatchRequest.calls;

test('BatchRequest needs ids and calls, and takes nothing it does not know', () =>
  assertStrict(batchRequestSchema, SAMPLES.BatchRequest));

test('BatchRequest takes the three strategies with their limits, and no other [S1-32]', () => {
  const good = [
    { type: 'sequential' },
    { type: 'ordered_batch', max_in_flight: 1 },
    { type: 'bounded_concurrent', max_in_flight: MAX_BATCH_CALLS },
  ];
  const bad = [
    'sequential',
    {},
    { type: 'all_at_once' },
    { type: 'ordered_batch' },
    { type: 'ordered_batch', max_in_flight: 0 },
    { type: 'bounded_concurrent', max_in_flight: MAX_BATCH_CALLS + 1 },
    { type: 'sequential', max_in_flight: 2 },
  ];
  assertAccepts(batchRequestSchema, SAMPLES.BatchRequest, 'strategy', good);
  assertRefuses(batchRequestSchema, SAMPLES.BatchRequest, 'strategy', bad);
});

test('BatchRequest takes one call or many, each with an id, up to a limit', () => {
  const many = (count: number) => Array.from({ length: count }, () => call);
  assertAccepts(batchRequestSchema, SAMPLES.BatchRequest, 'calls', [
    many(MAX_BATCH_CALLS),
    [{ ...call, idempotency_key: 'k', timeout_ms: 5 }],
  ]);
  const bad = [[], many(MAX_BATCH_CALLS + 1), [{ ...call, session_id: 's' }], [{ tool: 'x', args: {} }], [{}]];
  assertRefuses(batchRequestSchema, SAMPLES.BatchRequest, 'calls', bad);
});
