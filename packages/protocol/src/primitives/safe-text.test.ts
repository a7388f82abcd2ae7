import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { safeLines, safeText } from './safe-text.ts';

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const anyText = fc.string({ unit: 'binary', maxLength: 60 });

test('nothing that steers a terminal or hides text is left', () => {
  fc.assert(fc.property(anyText, (text) => !UNSAFE.test(safeText(text))));
  fc.assert(fc.property(anyText, (text) => !UNSAFE.test(safeLines(text).replace(/[\n\t]/g, ''))));
});

test('plain text stays as it is', () => {
  for (const text of ['', 'src/a b.ts', 'größe', '日本語', '🎉']) {
    assert.equal(safeText(text), text);
    assert.equal(safeLines(text), text);
  }
});

test('what is escaped can be recognised', () => {
  assert.equal(safeText('a\nb\tc\r\u001b[31m\u202e\u{e0041}'), 'a\\nb\\tc\\r\\u{1b}[31m\\u{202e}\\u{e0041}');
  assert.equal(safeLines('a\n\tb\u001b'), 'a\n\tb\\u{1b}');
});

test('long text is cut, and no character is cut in half', () => {
  assert.equal(safeText('x'.repeat(200), 10), `${'x'.repeat(9)}…`);
  assert.equal(safeText('xx🎉🎉', 4), 'xx\ufffd…');
  fc.assert(fc.property(anyText, fc.integer({ min: 2, max: 20 }), (text, max) => safeText(text, max).isWellFormed()));
});
