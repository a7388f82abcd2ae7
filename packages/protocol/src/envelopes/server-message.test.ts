import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLES } from '../../test/sample-messages.ts';
import { serverMessageSchema } from './server-message.ts';

test('a host may send its seven messages and none of the client [S0-2]', () => {
  const { ToolResponse, EventMessage, ErrorMessage, Heartbeat, SessionAck, ChildAck, ChildEnded } = SAMPLES;
  const accepted = Object.values(SAMPLES).filter((sample) => serverMessageSchema.safeParse(sample).success);
  assert.deepEqual(accepted, [ToolResponse, EventMessage, ErrorMessage, Heartbeat, SessionAck, ChildAck, ChildEnded]);
});
