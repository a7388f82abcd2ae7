import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { childAckSchema } from './child-ack.ts';

test('ChildAck says whose child it is, what it kept and what it did not [S3-45]', () =>
  assertStrict(childAckSchema, SAMPLES.ChildAck));

test('ChildAck has a token and a limit only where there are any', () => {
  assertAccepts(childAckSchema, SAMPLES.ChildAck, 'token', ['trt_x']);
  assertRefuses(childAckSchema, SAMPLES.ChildAck, 'token', [null, 1]);
  assertAccepts(childAckSchema, SAMPLES.ChildAck, 'heartbeat_timeout_ms', [1000]);
  assertRefuses(childAckSchema, SAMPLES.ChildAck, 'heartbeat_timeout_ms', [0, null]);
});
