import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundText } from './bound-text.ts';

test('a text that fits is left alone', () => {
  assert.equal(boundText('é'.repeat(50), 100), 'é'.repeat(50));
});

test('a longer text keeps its beginning and says how much was cut', () => {
  assert.equal(
    boundText('a'.repeat(101), 100),
    `${'a'.repeat(100)}\n[cut: 100 of 101 bytes shown; ask for a smaller part to see the rest]`,
  );
});

test('a cut never splits a character and never exceeds the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 60 }), (text, limit) => {
      const bounded = boundText(text, limit);
      if (Buffer.byteLength(text) <= limit) return assert.equal(bounded, text);
      const shown = bounded.slice(0, bounded.lastIndexOf('\n'));
      assert.ok(text.startsWith(shown));
      assert.ok(Buffer.byteLength(shown) <= limit && Buffer.byteLength(shown) > limit - 4);
      assert.ok(shown.isWellFormed());
    }),
  );
});
