import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import type { WriteStream } from 'node:tty';
import { createPieceWriter, writeText } from './write-pieces.ts';

/** Takes a byte at a time, late, so that writers have to wait. */
function collector(options: { readonly isTTY: boolean }) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      setImmediate(done);
    },
  });
  return { stream: Object.assign(stream, options) as unknown as WriteStream, bytes: () => Buffer.concat(chunks) };
}

const BYTES = Buffer.from('é\u001b[2J\t\n\u202e', 'utf8');

describe('bytes of others', () => {
  test('go to a program as they are', async () => {
    const { stream, bytes } = collector({ isTTY: false });
    const writer = createPieceWriter(stream);
    for (const byte of [...BYTES, 0xff]) await writer.write(Uint8Array.of(byte));
    await writer.end();
    assert.deepEqual(bytes(), Buffer.concat([BYTES, Buffer.of(0xff)]));
  });

  test('cannot steer a terminal, also when a character comes in two pieces', async () => {
    const { stream, bytes } = collector({ isTTY: true });
    const writer = createPieceWriter(stream);
    for (const byte of BYTES) await writer.write(Uint8Array.of(byte));
    await writer.end();
    assert.equal(bytes().toString(), 'é\\u{1b}[2J\t\n\\u{202e}');
    writeText(stream, 'a\r\n');
    await new Promise((resolve) => setImmediate(resolve));
    assert.match(bytes().toString(), /a\\r\n$/);
  });
});
