import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainMessage } from './plain-message.ts';

const STEERING = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f\u061c]/;

test('a message loses what steers a terminal and keeps its words', () => {
  const table: readonly (readonly [string, string])[] = [
    ['plain words, ünï – 漢字 👩‍💻', 'plain words, ünï – 漢字 👩‍💻'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u009b1;31mred', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;http://x\u001b\\link', 'link'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['over\rwritten', 'over written'],
    ['\u202egpj.exe', 'gpj.exe'],
    ['bell\u0007 NUL\0', 'bell NUL'],
    ['half \ud800 pair', 'half  pair'],
  ];
  for (const [text, plain] of table) assert.equal(plainMessage(text), plain);
});

test('no text keeps a steering character, and plain text is not changed', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001b[', '\u001b]', '\u009b', '\u0007', '\u202e', '\r\n'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      const plain = plainMessage(text);
      assert.doesNotMatch(plain, STEERING);
      assert.equal(plainMessage(plain), plain);
      if (!STEERING.test(text) && text.isWellFormed()) assert.equal(plain, text);
    }),
    { numRuns: 2000 },
  );
});
