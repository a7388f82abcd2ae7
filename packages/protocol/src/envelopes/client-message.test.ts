import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLES } from '../../test/sample-messages.ts';
import { clientMessageSchema } from './client-message.ts';

test('a client may send its eight messages and none of the host [S0-2]', () => {
  const accepted = Object.values(SAMPLES).filter((sample) => clientMessageSchema.safeParse(sample).success);
  assert.deepEqual(accepted, [
    SAMPLES.ToolRequest,
    SAMPLES.BatchRequest,
    SAMPLES.Heartbeat,
    SAMPLES.CancelRequest,
    SAMPLES.SessionAttach,
    SAMPLES.ApprovalAnswer,
    SAMPLES.ChildOpen,
    SAMPLES.ChildEnd,
  ]);
});
