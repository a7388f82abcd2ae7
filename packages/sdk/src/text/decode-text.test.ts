import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeText, encodeText, TEXT_ENCODINGS } from './decode-text.ts';

test('text comes back from its bytes in every encoding that can hold it [S0-30]', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...TEXT_ENCODINGS), (text, encoding) => {
      const bytes = encodeText(text, encoding);
      if (bytes === undefined) assert.ok(encoding === 'latin1' && /[^\0-\xff]/.test(text));
      else assert.equal(decodeText(bytes, encoding), text);
    }),
  );
});

test('bytes come back from their text or have none [S0-30]', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.constantFrom(...TEXT_ENCODINGS), (bytes, encoding) => {
      const text = decodeText(bytes, encoding);
      if (text === undefined) assert.notEqual(encoding, 'latin1');
      else assert.deepEqual(encodeText(text, encoding), Buffer.from(bytes));
    }),
  );
});

test('a prefix loses at most the character it cuts [S0-30]', () => {
  const text = 'aé漢\u{1f600}';
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
    const bytes = encodeText(text, encoding) ?? Buffer.alloc(0);
    for (let end = 0; end <= bytes.length; end++) {
      const decoded = decodeText(bytes.subarray(0, end), encoding, { isPrefix: true });
      assert.ok(decoded !== undefined && text.startsWith(decoded));
      assert.ok(end - (encodeText(decoded, encoding)?.length ?? 0) < 4);
    }
  }
});
