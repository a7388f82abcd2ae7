import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clipText, fitsUtf8, formatPath, safeLines, safeText, utf8Length } from './safe-text.ts';

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

test('clipText quotes short text, escapes control characters and cuts long text', () => {
  assert.equal(clipText('plain'), '"plain"');
  assert.equal(clipText('a\u0007"b'), '"a\\u{7}\\"b"');
  assert.equal(clipText('x'.repeat(40)), `"${'x'.repeat(40)}"`);
  assert.equal(clipText('x'.repeat(41)), `"${'x'.repeat(39)}…"`);
  assert.ok(clipText('😀'.repeat(40)).isWellFormed());
});

test('formatPath writes a path as a person would', () => {
  assert.equal(formatPath([]), '');
  assert.equal(formatPath(['args', 'items', 2, 'name']), 'args.items[2].name');
  assert.equal(formatPath([0, 'odd key', 'a.b', '']), '[0]["odd key"]["a.b"][""]');
});

test('formatPath never passes on control characters or long keys', () => {
  assert.equal(formatPath(['a\u001b[31m\n']), '["a\\u{1b}[31m\\n"]');
  assert.equal(formatPath(['k'.repeat(500)]), `["${'k'.repeat(39)}…"]`);
  assert.equal(formatPath(new Array(500).fill(0)), `${'[0]'.repeat(16)}…`);
});

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
