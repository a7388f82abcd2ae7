import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import type { WriteStream } from 'node:tty';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { createPieceWriter, exitCodeOf, writeText } from './report-run.ts';

function failed(code: ErrorEntry['code'], details: ErrorEntry['details'] = {}): number {
  return exitCodeOf({ ok: false, data: null, errors: [{ code, message: '', details }] });
}

describe('the exit code of a run', () => {
  test('is the one the wrapper says, from 0 to 17 [S4-43]', () => {
    assert.equal(exitCodeOf({ ok: true, data: { exit_code: 0 }, errors: [] }), 0);
    const codes = Array.from({ length: 17 }, (_, at) => at + 1);
    assert.deepEqual(
      codes.map((code) => failed('E_POLICY', { exit_code: code })),
      codes,
    );
  });

  test('is 14 for refusals without an exit code and for unknown codes [S4-43]', () => {
    assert.deepEqual(
      [failed('E_POLICY'), failed('E_INTERNAL', { exit_code: 18 }), failed('E_SHELL', { exit_code: '3' })],
      [14, 14, 14],
    );
    assert.equal(exitCodeOf({ ok: true, data: null, errors: [] }), 14);
  });

  test('is never 0 for a run that failed, and 1 for one that was stopped too late to tell [S4-2]', () => {
    assert.deepEqual([failed('E_SHELL', { exit_code: 0 }), failed('E_TIMEOUT')], [1, 1]);
  });
});

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
