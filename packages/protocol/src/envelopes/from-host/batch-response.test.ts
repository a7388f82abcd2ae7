import { test } from 'node:test';
import { assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { batchResponseSchema } from './batch-response.ts';

test('BatchResponse holds terminal messages and nothing else', () => {
  assertStrict(batchResponseSchema, SAMPLES.BatchResponse);
  assertRefuses(batchResponseSchema, SAMPLES.BatchResponse, 'responses', [[SAMPLES.Heartbeat], [{}], 'x']);
});
