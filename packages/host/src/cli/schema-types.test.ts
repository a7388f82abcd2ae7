import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acceptedTypes } from './schema-types.ts';

const schema = {
  properties: {
    text: { type: 'string' },
    maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    list: { type: ['string', 'array'] },
    mode: { enum: ['a', 'b', null] },
    one: { const: 'a' },
    either: { oneOf: [{ type: 'integer' }, { anyOf: [{ type: 'string' }] }] },
    anything: {},
  },
};

describe('acceptedTypes', () => {
  for (const [key, types] of Object.entries({
    text: ['string'],
    maybe: ['string', 'null'],
    list: ['string', 'array'],
    mode: ['string', 'null'],
    one: ['string'],
    either: ['integer', 'string'],
    anything: [],
    unknown: [],
    toString: [],
  })) {
    test(`of ${key} are ${JSON.stringify(types)}`, () => {
      assert.deepEqual([...acceptedTypes(schema, key)], types);
    });
  }

  test('are unknown without a schema', () => {
    assert.deepEqual([...acceptedTypes(undefined, 'text')], []);
    assert.deepEqual([...acceptedTypes({}, 'text')], []);
  });
});
