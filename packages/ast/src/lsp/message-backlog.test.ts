import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { MAX_BACKLOG_BYTES, MAX_BACKLOG_MESSAGES, MessageBacklog } from './message-backlog.ts';

const isTooMuch = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'malformed_frame';

test('a server may say any amount as long as it is listened to, and not too much at once', () => {
  const backlog = new MessageBacklog();
  for (let turn = 0; turn < 10; turn++) {
    backlog.arrive(MAX_BACKLOG_BYTES, 1);
    backlog.handled();
  }
  backlog.arrive(1, MAX_BACKLOG_MESSAGES);
  assert.throws(() => backlog.arrive(1, 1), isTooMuch);
  const other = new MessageBacklog();
  other.arrive(MAX_BACKLOG_BYTES, 2);
  other.handled();
  assert.throws(() => other.arrive(1, 0), isTooMuch);
});
