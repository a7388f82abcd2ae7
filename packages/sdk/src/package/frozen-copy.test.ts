import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { frozenCopy } from './frozen-copy.ts';

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

test('a frozen copy equals its source, which stays as it was [S1-16]', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const source = JSON.stringify(value);
      const copy = frozenCopy(value);
      assert.equal(JSON.stringify(copy), source);
      assert.ok(isDeepFrozen(copy));
      if (typeof value === 'object' && value !== null) assert.ok(!Object.isFrozen(value));
    }),
  );
});

test('a member named __proto__ stays a member [S1-16]', () => {
  const copy = frozenCopy(JSON.parse('{"__proto__":{"polluted":true}}'));
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.deepEqual(Object.keys(copy), ['__proto__']);
});

test('undefined members are dropped [S1-13]', () => {
  assert.deepEqual(Object.keys(frozenCopy({ a: 1, b: undefined })), ['a']);
});
