import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, isJsonValue } from './is-json.ts';

describe('isJsonValue', () => {
  test('is true for everything JSON.parse can give but an own __proto__ key', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        let isPlain = true;
        JSON.parse(text, (key) => {
          isPlain &&= key !== '__proto__';
        });
        assert.equal(isJsonValue(JSON.parse(text)), isPlain, text);
      }),
      { examples: [[{ ['__proto__']: null }], [[{ a: { ['__proto__']: 1 } }]], [{ proto: null }]] },
    );
  });

  test('is true for plain objects without a prototype and from other realms', () => {
    assert.equal(isJsonValue(Object.assign(Object.create(null), { a: 1 })), true);
    assert.equal(isJsonValue(structuredClone({ a: [1] })), true);
  });

  test('is false for what JSON cannot say', () => {
    const values = [
      undefined,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
      1n,
      () => 1,
      Symbol('s'),
      new Date(),
      new Map(),
      /x/,
    ];
    for (const value of values) {
      assert.equal(isJsonValue(value), false, String(value));
      assert.equal(isJsonValue({ list: [value] }), false, `nested ${String(value)}`);
    }
  });

  test('is false for a cycle and for an own __proto__ key', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    assert.equal(isJsonValue(loop), false);
    assert.equal(isJsonValue(JSON.parse('{"a":{"__proto__":{"admin":true}}}')), false);
    assert.equal(isJsonValue(JSON.parse('{"a":{"proto":{"admin":true}}}')), true);
  });

  test('is false for an array with holes', () => {
    assert.equal(isJsonValue(new Array(1)), false);
  });
});

test('isJsonObject wants an object at the top', () => {
  for (const value of [[], null, 'x', 1, true]) assert.equal(isJsonObject(value), false);
  for (const value of [{}, { a: null }]) assert.equal(isJsonObject(value), true);
});
