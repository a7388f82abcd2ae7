import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readAnsi } from './ansi.ts';

describe('readAnsi', () => {
  test('makes spans of colours', () => {
    assert.deepEqual(readAnsi('a\u001b[1;31mb\u001b[39mc\u001b[0md'), [
      { text: 'a', style: '' },
      { text: 'b', style: 'ansi-bold ansi-red' },
      { text: 'c', style: 'ansi-bold' },
      { text: 'd', style: '' },
    ]);
  });

  test('leaves out what would move a cursor, clear a screen or name an address', () => {
    const text = '\u001b[2Ja\u001b]8;;https://evil.example\u0007b\u001b]8;;\u0007\u001b[10;10Hc\u001bM';
    assert.equal(
      readAnsi(text)
        .map((span) => span.text)
        .join(''),
      'abc',
    );
  });
});
