import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OutputCapture } from './output-capture.ts';

function capture(text: string, maxBytes: number, sizes: readonly number[]) {
  const bytes = Buffer.from(text);
  const stream = new OutputCapture(maxBytes);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    stream.add(bytes.subarray(at, at + size));
    at += size;
  }
  return stream.finish();
}

test('keeps what fits, whole, whatever the pieces [S0-38]', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (text, sizes) => {
        const bytes = Buffer.byteLength(text);
        assert.deepEqual(capture(text, bytes, sizes), { text, totalBytes: bytes, truncated: false });
      },
    ),
  );
});

test('keeps the beginning and the end of what does not fit, says how much is missing, and splits no character [S0-38]', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'ö', '€', '😀', '\n'), minLength: 1, maxLength: 200 }),
      fc.integer({ min: 0, max: 300 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
      (text, maxBytes, sizes) => {
        const total = Buffer.byteLength(text);
        fc.pre(total > maxBytes);
        const kept = capture(text, maxBytes, sizes);
        assert.equal(kept.totalBytes, total);
        assert.equal(kept.truncated, true);
        const [, head = '', bytes, lines, tail = ''] =
          /^(.*)\n\[… (\d+) bytes, (\d+) lines left out …\]\n(.*)$/s.exec(kept.text) ?? [];
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        const from = Buffer.byteLength(head);
        assert.deepEqual(kept.gap, { from, bytes: Number(bytes), lines: Number(lines) });
        assert.equal(Number(bytes), total - from - Buffer.byteLength(tail));
        const leftOut = Buffer.from(text).subarray(from, from + Number(bytes));
        assert.equal(leftOut.filter((byte) => byte === 10).length, Number(lines));
        assert.ok(Buffer.byteLength(head) > Math.ceil(maxBytes / 2) - 4);
        assert.ok(Buffer.byteLength(tail) > Math.floor(maxBytes / 2) - 4);
        assert.ok(Buffer.byteLength(head) + Buffer.byteLength(tail) <= maxBytes);
      },
    ),
  );
});

test('bytes that are no text are counted as they are [S0-38]', () => {
  const stream = new OutputCapture(4);
  stream.add(Buffer.from([0xff, 0xfe, 0x80, 0x80]));
  assert.equal(stream.finish().truncated, false);
  stream.add(Buffer.from([0xff]));
  assert.equal(stream.finish().totalBytes, 5);
});
