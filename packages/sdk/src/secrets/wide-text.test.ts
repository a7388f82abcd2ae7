import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { narrowText, widenMatches } from './wide-text.ts';

const WORD = 'searched-word';

function wide(text: string): string {
  return Buffer.from(text, 'utf16le').toString('latin1');
}

test('a word of two-byte characters is found in its place at any alignment, among anything [S0-67]', () => {
  const around = fc.array(fc.constantFrom('\0', '\0\0', '\0\0\0', 'ab', '\xff', '\n', wide('other text')), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(around, around, fc.boolean(), (before, behind, isBig) => {
      const word = isBig ? `\0${wide(WORD).slice(0, -1)}` : wide(WORD);
      const text = `${before.join('')}\x01\0\0\0${word}\0\0\x02${behind.join('')}`;
      const narrow = narrowText(text) ?? '';
      const start = narrow.indexOf(WORD);
      assert.ok(start >= 0);
      const match = { kind: 'any', start, end: start + WORD.length, value: WORD };
      const [found] = widenMatches([match], text);
      assert.equal(text.slice(found?.start, found?.end).replaceAll('\0', ''), WORD);
      assert.equal(text.charAt(found?.start ?? 0), WORD.charAt(0));
    }),
  );
});

test('content without two-byte characters has no narrow form [S0-67]', () => {
  assert.equal(narrowText('a\0\0b\0c plain'), undefined);
});
