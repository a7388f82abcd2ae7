import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

function split(chunks: readonly Uint8Array[], maxBytes = 1000): string[] {
  const lines = new LineSplitter(maxBytes);
  return [...chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))]), ...lines.end()].map((line) =>
    line.ok ? line.text : `! ${line.reason}`,
  );
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

describe('LineSplitter', () => {
  test('gives the same lines however the bytes are cut', () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => `x${line.replaceAll(/[\n]/g, '')}`));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const whole = lines.map((line) => Buffer.from(line).toString('utf8'));
        assert.deepEqual(split(cut(bytes, size)), whole);
      }),
    );
  });

  test('gives a last line that has no newline', () => {
    assert.deepEqual(split([Buffer.from('a\nb')]), ['a', 'b']);
    assert.deepEqual(split([Buffer.from('a\n')]), ['a']);
    assert.deepEqual(split([]), []);
  });

  test('leaves out lines of nothing but whitespace and keeps the rest of a CRLF line', () => {
    assert.deepEqual(split([Buffer.from('\n\r\n \t\n{}\r\n\n')]), ['{}\r']);
  });

  test('reports a line over the limit once, counts bytes, and goes on after it', () => {
    const line = 'ä'.repeat(6);
    for (const size of [1, 3, 1000]) {
      assert.deepEqual(split(cut(Buffer.from(`${line}\nb\n${line}`), size), 11), ['! too_large', 'b', '! too_large']);
      assert.deepEqual(split(cut(Buffer.from(`${line}\nb\n${line}`), size), 12), [line, 'b', line]);
    }
  });

  test('reports a line that is not UTF-8 and goes on after it', () => {
    const bytes = Buffer.concat([Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from('b\n'), Buffer.from([0xc3])]);
    assert.deepEqual(split(cut(bytes, 1)), ['! invalid_utf8', 'b', '! invalid_utf8']);
  });

  test('passes NUL on, for the JSON scan to refuse', () => {
    assert.deepEqual(split([Buffer.from('{\0}\n')]), ['{\0}']);
  });
});
