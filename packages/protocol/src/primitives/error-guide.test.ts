import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_GUIDE } from './error-guide.ts';
import { ERROR_CODES } from './errors.ts';

test('the guide explains exactly the ten codes [S0-8]', () => {
  assert.deepEqual(Object.keys(ERROR_GUIDE), [...ERROR_CODES]);
});

test('every code has a meaning and a next step, in sentences of their own', () => {
  const texts = Object.values(ERROR_GUIDE).flatMap(({ meaning, next }) => [meaning, next]);
  for (const text of texts) assert.match(text, /^[A-Z].{20,}\.$/);
  assert.equal(new Set(texts).size, 2 * ERROR_CODES.length);
});
