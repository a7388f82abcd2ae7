import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonObjectSchema } from './json.ts';

test('the schema returns the very object it was given', () => {
  const args = { path: 'a' };
  assert.equal(jsonObjectSchema.parse(args), args);
});
