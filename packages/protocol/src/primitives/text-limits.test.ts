import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitsUtf8, utf8Length } from './text-limits.ts';

test('utf8Length is the size the encoder would give, lone surrogates included', () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  const text = fc.string({ unit: fc.oneof(unit, fc.string({ unit: 'binary', maxLength: 1 })) });
  fc.assert(
    fc.property(text, (value) => {
      assert.equal(utf8Length(value), new TextEncoder().encode(value).length);
    }),
    { numRuns: 1000 },
  );
  assert.equal(utf8Length('a\ud83d\ude00\ud83dé'), 10);
});

test('fitsUtf8 draws the line at the exact byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 30 }), (value, maxBytes) => {
      assert.equal(fitsUtf8(value, maxBytes), new TextEncoder().encode(value).length <= maxBytes);
    }),
  );
});
