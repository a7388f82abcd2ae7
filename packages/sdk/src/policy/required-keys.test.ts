import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { missingKeys, requireKeys } from './required-keys.ts';

test('S2-15 counts absent and null keys as missing, and falsy values as given', () => {
  assert.deepEqual(missingKeys({ a: null, c: 0, d: '', e: false }, ['a', 'b', 'c', 'd', 'e']), ['a', 'b']);
  assert.deepEqual(missingKeys({}, ['toString']), ['toString']);
});

test('S2-15 names every missing required key in one error', () => {
  assert.throws(
    () => requireKeys({ a: null, c: 1 }, ['a', 'b', 'c'], 'fs_move'),
    (thrown) =>
      isToolError(thrown) &&
      thrown.code === 'E_VALIDATION_FAIL' &&
      thrown.message === 'Required arguments are missing for fs_move: a, b',
  );
  requireKeys({ a: 1, b: 2, c: 3 }, ['a', 'b', 'c'], 'fs_move');
});
