import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '../dispatch/connection.ts';
import { readLines } from './json-lines.ts';
import { LineWriter } from './line-writer.ts';

const LINES = 1000;

test('reads no further while the answers so far are unread, and to the end once they are read', async () => {
  const output = new PassThrough({ highWaterMark: 64 });
  const writer = new LineWriter(output);
  let received = 0;
  // Every line is answered at once, as what is no message is.
  const answer = (): void => {
    received += 1;
    writer.write('refused');
  };
  const connection = { receive: answer, refuse: answer, place: () => undefined } as unknown as Connection;
  const input = Readable.from(Array.from({ length: LINES }, () => Buffer.from('garbage\n')));
  const reading = readLines(input, { connection, writer, signal: new AbortController().signal, maxRequestBytes: 100 });
  for (let turn = 0; turn < 2 * LINES; turn++) await setImmediate();
  assert.ok(received > 0 && received < LINES / 2, String(received));
  output.resume();
  await reading;
  assert.equal(received, LINES);
});
