import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainMessage } from './plain-message.ts';

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test('a message loses colours and line breaks, and what is left is made safe', () => {
  const table: readonly (readonly [string, string])[] = [
    ['plain words, ünï – 漢字 🎉', 'plain words, ünï – 漢字 🎉'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u009b1;31mred', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;http://x\u001b\\link', 'link'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['over\rwritten', 'over written'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['bell\u0007 NUL\0', 'bell\\u{7} NUL\\u{0}'],
    ['half \ud800 pair', 'half \\u{d800} pair'],
  ];
  for (const [text, plain] of table) assert.equal(plainMessage(text), plain);
});

test('no text keeps an unsafe character, and plain text is not changed', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001b[', '\u001b]', '\u009b', '\u0007', '\u202e', '\r\n'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      const plain = plainMessage(text);
      assert.doesNotMatch(plain, UNSAFE);
      assert.equal(plainMessage(plain), plain);
      if (!UNSAFE.test(text)) assert.equal(plain, text);
    }),
    { numRuns: 2000 },
  );
});
