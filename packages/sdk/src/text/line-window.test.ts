import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeText, encodeText, type TextEncoding } from './encoding.ts';
import { LineWindow, type LineWindowOptions } from './line-window.ts';

function windowOf(whole: Uint8Array, pieceBytes: number, options: Partial<LineWindowOptions>) {
  const window = new LineWindow({
    first: 1,
    count: Number.POSITIVE_INFINITY,
    maxBytes: 1e9,
    encoding: 'auto',
    ...options,
  });
  const buffer = Buffer.alloc(pieceBytes);
  for (let at = 0; at < whole.length; at += pieceBytes) {
    const count = Buffer.from(whole).copy(buffer, 0, at, at + pieceBytes);
    // One buffer for all pieces: what was kept must have been copied.
    window.add(buffer.subarray(0, count));
  }
  return window.finish();
}

const texts = fc
  .array(fc.constantFrom('a', 'bb', '\n', '\n', '\r\n', '\r', 'ĊਊЍ', '\u{1f600}'), { maxLength: 30 })
  .map((all) => all.join(''));

function linesOf(text: string): string[] {
  const lines = text.split(/(?<=\n)/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

test('the wanted lines come out however the file is cut into pieces, in every encoding [S0-30]', () => {
  const encodings = fc.constantFrom<TextEncoding>('utf-8', 'utf-16le', 'utf-16be');
  const wanted = fc.record({ first: fc.integer({ min: 1, max: 12 }), count: fc.integer({ min: 1, max: 12 }) });
  fc.assert(
    fc.property(texts, encodings, wanted, fc.integer({ min: 1, max: 9 }), (tail, encoding, { first, count }, piece) => {
      // A first piece with a line feed, so that the line feed is what ends a line.
      const text = `\n\n\n\n\n${tail}`;
      const { bytes, last, total, isCut } = windowOf(encodeText(text, encoding) ?? Buffer.alloc(0), piece + 1, {
        first,
        count,
        encoding,
      });
      const lines = linesOf(text);
      const some = lines.slice(first - 1, first - 1 + count);
      assert.equal(decodeText(bytes, encoding), some.join(''));
      assert.deepEqual([last, total, isCut], [first - 1 + some.length, lines.length, false]);
    }),
  );
});

test('no more than maxBytes are kept, cut between characters, and the count goes on [S0-30]', () => {
  const text = 'x\né\u{1f600}line\nrest\nmore\n';
  for (let maxBytes = 1; maxBytes < 20; maxBytes++) {
    for (const piece of [1, 3, 100]) {
      const cut = windowOf(Buffer.from(text), piece, { first: 2, count: 2, maxBytes, encoding: 'utf-8' });
      const wanted = 'é\u{1f600}line\nrest\n';
      assert.ok(wanted.startsWith(cut.bytes.toString()) && cut.bytes.length <= maxBytes);
      assert.equal(cut.isCut, maxBytes < Buffer.byteLength(wanted));
      assert.equal(cut.total, 4);
      assert.equal(cut.last, maxBytes <= 11 ? 2 : 3);
    }
  }
});

test('carriage returns end the lines of a file that has nothing else [S0-30]', () => {
  const { bytes, last, total } = windowOf(Buffer.from('a\rb\rc'), 100, { first: 2, count: 1 });
  assert.deepEqual([bytes.toString(), last, total], ['b\r', 2, 3]);
});

test('past the end there is nothing, and the number of lines says why [S0-30]', () => {
  for (const [text, count] of [
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
  ] as const) {
    const { bytes, last, total } = windowOf(Buffer.from(text), 4, { first: 9 });
    assert.deepEqual([bytes.length, last, total], [0, 8, count]);
  }
});
