import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyStrictly, readStrictly } from './strict-patch.ts';

const HEAD = '--- a/f\n+++ b/f\n';

function patched(before: string, diff: string): string | undefined {
  const hunks = readStrictly(HEAD + diff);
  return hunks === undefined ? undefined : applyStrictly(before, hunks);
}

test('diffs by the book are applied', () => {
  assert.equal(patched('a\nb\nc\n', '@@ -2 +2,2 @@\n-b\n+B\n+D\n'), 'a\nB\nD\nc\n');
  assert.equal(patched('a', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n'), 'b\n');
  assert.equal(patched('', '@@ -0,0 +1 @@\n+a\n'), 'a\n');
});

test('diffs that are not by the book, or not for this file, are not', () => {
  for (const diff of [
    '',
    '@@ -1,2 +1 @@\n-a\n',
    '@@ -1 +2 @@\n-a\n+b\n',
    '@@ -1 +1 @@\n-a\n+b\nmore\n',
    '@@\n-a\n+b\n',
  ]) {
    assert.equal(patched('a\n', diff), undefined, diff);
  }
  assert.equal(patched('x\n', '@@ -1 +1 @@\n-a\n+b\n'), undefined);
});
