import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { KeptValues } from './kept-values.ts';

test('kept values are found by name, the oldest forgotten, and other processes know none of them', () => {
  const kept = new KeptValues(1);
  const first = kept.keep('first');
  assert.equal(kept.get(first), 'first');
  const names = Array.from({ length: 2_000 }, (_, at) => kept.keep(at));
  const isUnknown = (thrown: unknown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL';
  assert.throws(() => kept.get(first), isUnknown);
  assert.equal(kept.get(names.at(0)), 0);
  assert.throws(() => new KeptValues(2).get(names.at(0)), isUnknown);
});
