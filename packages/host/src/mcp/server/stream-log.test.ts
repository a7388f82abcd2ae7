import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StreamLog } from './stream-log.ts';

function note(text: string): JSONRPCMessage {
  return { jsonrpc: '2.0', method: 'notifications/message', params: { text } };
}

async function replay(log: StreamLog, lastId: string): Promise<readonly unknown[]> {
  const sent: unknown[] = [];
  await log.replayEventsAfter(lastId, {
    send: async (_id, message) => void sent.push((message as { params?: { text: string } }).params?.text),
  });
  return sent;
}

test('a stream is resumed after the last event its client saw, without events of other streams', async () => {
  const log = new StreamLog();
  const opening = await log.storeEvent('a', {} as JSONRPCMessage);
  const first = await log.storeEvent('a', note('one'));
  await log.storeEvent('b', note('other'));
  await log.storeEvent('a', note('two'));
  assert.deepEqual(await replay(log, opening), ['one', 'two']);
  assert.deepEqual(await replay(log, first), ['two']);
  assert.equal(await log.getStreamIdForEventId(first), 'a');
  assert.equal(await log.getStreamIdForEventId('99'), undefined);
});

test('the oldest events are given up when there are too many, never the newest', async () => {
  const log = new StreamLog(1000);
  const ids = await Promise.all(Array.from({ length: 50 }, (_, at) => log.storeEvent('a', note(`event ${at}`))));
  assert.equal(await log.getStreamIdForEventId(ids[0] ?? ''), undefined);
  assert.equal(await log.getStreamIdForEventId(ids.at(-1) ?? ''), 'a');
  const huge = await log.storeEvent('a', note('x'.repeat(5000)));
  assert.equal(await log.getStreamIdForEventId(huge), 'a');
  assert.equal(await log.getStreamIdForEventId(ids.at(-1) ?? ''), undefined);
});
