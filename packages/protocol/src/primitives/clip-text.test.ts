import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clipText } from './clip-text.ts';

test('clipText quotes short text, escapes control characters and cuts long text', () => {
  assert.equal(clipText('plain'), '"plain"');
  assert.equal(clipText('a\u0007"b'), '"a\\u{7}\\"b"');
  assert.equal(clipText('x'.repeat(40)), `"${'x'.repeat(40)}"`);
  assert.equal(clipText('x'.repeat(41)), `"${'x'.repeat(39)}…"`);
  assert.ok(clipText('😀'.repeat(40)).isWellFormed());
});
