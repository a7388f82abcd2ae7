import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownNames } from './shown-names.ts';

test('a few names are all shown', () => {
  assert.equal(shownNames([]), '');
  assert.equal(shownNames(['a']), 'a');
  assert.equal(shownNames(['a', 'b\n'], '; '), 'a; b\\n');
});

test('of many names the first are shown, and the rest is counted', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `name-${index}`);
  const text = shownNames(many);
  assert.match(text, /^name-0, name-1, .*, and 9\d\d more$/);
  assert.ok(text.length < 220);
  const shown = text.split(', ').length - 1;
  assert.ok(text.endsWith(`and ${1000 - shown} more`));
});

test('a name that is too long is cut, and the next one only counted', () => {
  assert.match(shownNames(['x'.repeat(5000), 'y'.repeat(50)]), /^x{159}…, and 1 more$/);
});
