import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLES } from '../../test/sample-messages.ts';
import { serverMessageSchema } from './server-message.ts';

test('a host may send its eight messages and none of the client [S0-2]', () => {
  const { BatchResponse, ToolResponse, EventMessage, ErrorMessage, Heartbeat, SessionAck, ChildAck, ChildEnded } =
    SAMPLES;
  const accepted = Object.values(SAMPLES).filter((sample) => serverMessageSchema.safeParse(sample).success);
  assert.deepEqual(accepted, [
    BatchResponse,
    ToolResponse,
    EventMessage,
    ErrorMessage,
    Heartbeat,
    SessionAck,
    ChildAck,
    ChildEnded,
  ]);
});
