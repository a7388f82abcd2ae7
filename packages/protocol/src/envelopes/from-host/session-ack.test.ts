import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { sessionAckSchema } from './session-ack.ts';

test('SessionAck has exactly its five fields', () => assertStrict(sessionAckSchema, SAMPLES.SessionAck));

test('SessionAck says accepted as a boolean and names a version', () => {
  assertRefuses(sessionAckSchema, SAMPLES.SessionAck, 'accepted', ['yes', 1, null]);
  assertAccepts(sessionAckSchema, SAMPLES.SessionAck, 'accepted', [true, false]);
  assertRefuses(sessionAckSchema, SAMPLES.SessionAck, 'server_version', ['', 1, null]);
  assertAccepts(sessionAckSchema, SAMPLES.SessionAck, 'server_version', ['1.2.3']);
});
