import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRange } from './resolve-revisions.ts';

test('a range is two revisions, HEAD where one is left out; anything else is not a range [S0-43]', () => {
  for (const [text, wanted] of [
    ['a..b', { from: 'a', to: 'b', symmetric: false }],
    ['a...b', { from: 'a', to: 'b', symmetric: true }],
    ['a..', { from: 'a', to: 'HEAD', symmetric: false }],
    ['...b', { from: 'HEAD', to: 'b', symmetric: true }],
    ['v1.2~3..@{upstream}', { from: 'v1.2~3', to: '@{upstream}', symmetric: false }],
    ['v1.2', undefined],
    ['HEAD', undefined],
    ['', undefined],
  ] as const) {
    assert.deepEqual(parseRange(text), wanted, text);
  }
});
