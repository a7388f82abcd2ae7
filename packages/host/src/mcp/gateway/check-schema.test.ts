import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { checkSchema } from './check-schema.ts';

const person: JsonObject = {
  type: 'object',
  properties: { name: { $ref: '#/$defs/name' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
  required: ['name'],
  additionalProperties: false,
  $defs: { name: { type: 'string', minLength: 2 } },
};

describe('foreign schemas', () => {
  test('are enforced, references inside them too', () => {
    const check = checkSchema(person);
    assert.deepEqual(check({ name: 'Ada', tags: ['a'] }), []);
    assert.deepEqual(check({ name: 'A' })[0]?.path, ['name']);
    assert.equal(check({ name: 'Ada', tags: ['c'] }).length, 1);
    assert.equal(check({}).length, 1);
    assert.equal(check({ name: 'Ada', other: 1 }).length, 1);
  });

  test('cannot keep the host busy with a pattern of their own', () => {
    const check = checkSchema({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } });
    assert.deepEqual(check({ a: 'aa!' }), [], 'it is not even tried');
    assert.deepEqual(check({ a: `${'a'.repeat(50_000)}!` }), []);
    assert.equal(check({ a: 1 }).length, 1);
  });

  test('refuse nothing as left over where patterns would have admitted it', () => {
    const open = checkSchema({ type: 'object', patternProperties: { '^x': {} }, additionalProperties: false });
    assert.deepEqual(open({ x1: 1 }), []);
    const closed = checkSchema({ type: 'object', additionalProperties: false });
    assert.equal(closed({ x1: 1 }).length, 1);
  });

  test('whose references multiply end in a refusal', () => {
    const defs: Record<string, JsonValue> = { d30: { type: 'object' } };
    for (let level = 0; level < 30; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      defs[`d${level}`] = { allOf: [next, next] };
    }
    // The first would end within a second by itself, the second never.
    for (const level of ['d14', 'd0']) {
      const check = checkSchema({ $ref: `#/$defs/${level}`, $defs: defs });
      assert.match(check({})[0]?.message ?? '', /cannot be checked/);
    }
    assert.deepEqual(checkSchema({ $ref: '#/$defs/d25', $defs: defs })({}), []);
  });

  test('that refer in a circle, or to nothing, let nothing through', () => {
    assert.equal(checkSchema({ $ref: '#' })({}).length, 1);
    assert.equal(checkSchema({ $ref: '#/$defs/missing' })({}).length, 1);
  });

  test('never make the check throw, whatever they and the value are', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (schema, value) => {
        assert.ok(Array.isArray(checkSchema(schema as JsonObject)(value as JsonValue)));
      }),
    );
  });
});
