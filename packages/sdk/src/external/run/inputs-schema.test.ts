import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { compileInputs } from './compile-inputs.ts';
import { inputsSchemaProblem } from './inputs-schema.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-zä😀]+$' },
    count: { type: 'integer', minimum: 1, exclusiveMaximum: 5, multipleOf: 2 },
    tags: { type: 'array', items: { enum: ['a', 1, { x: [null] }] }, minItems: 1, maxItems: 2 },
    either: { anyOf: [{ type: 'null' }, { const: 'yes' }] },
    rest: { type: 'object', additionalProperties: { type: ['number', 'boolean'] } },
  },
};

describe('inputs by a schema', () => {
  const check = compileInputs(SCHEMA);
  const rows: readonly [JsonValue, readonly string[]][] = [
    [{ name: 'ab' }, []],
    [{ name: '😀😀😀' }, []],
    [{ name: 'ab', count: 4, tags: ['a', { x: [null] }], either: null, rest: { a: 1, b: true } }, []],
    [{}, ['name is missing']],
    [[], [' must be object']],
    [{ name: 'a' }, ['name is shorter than 2']],
    [{ name: 'abcd' }, ['name is longer than 3']],
    [{ name: 'AB' }, ['name does not match ^[a-zä😀]+$']],
    [{ name: 1 }, ['name must be string']],
    [{ name: 'ab', other: 1 }, ['other is not known']],
    [{ name: 'ab', count: 0 }, ['count is below 1']],
    [{ name: 'ab', count: 6 }, ['count is not below 5']],
    [{ name: 'ab', count: 3 }, ['count is not a multiple of 2']],
    [{ name: 'ab', count: 2.5 }, ['count must be integer', 'count is not a multiple of 2']],
    [{ name: 'ab', tags: [] }, ['tags has fewer than 1']],
    [{ name: 'ab', tags: ['a', 'b', 'a'] }, ['tags has more than 2', 'tags.1 is not one of the allowed values']],
    [{ name: 'ab', either: 'no' }, ['either fits none of the alternatives']],
    [{ name: 'ab', rest: { a: 'x' } }, ['rest.a must be number or boolean']],
  ];
  for (const [value, expected] of rows) {
    test(`judges ${JSON.stringify(value)}`, () => {
      const issues = check(value).map(({ path, message }) => `${path.join('.')} ${message}`);
      assert.deepEqual(issues, expected);
    });
  }

  test('takes a schema without promises at its word', () => {
    assert.equal(inputsSchemaProblem(SCHEMA), undefined);
    assert.deepEqual(compileInputs({ type: 'object' })({ anything: [1] }), []);
  });

  test('stops at a handful of issues', () => {
    const many = compileInputs({ type: 'object', additionalProperties: { type: 'null' } });
    assert.equal(many(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 1]))).length, 8);
  });
});

describe('a schema of inputs', () => {
  for (const schema of [
    { type: 'object', format: 'x' },
    { type: 'object', patternProperties: {} },
    { type: 'object', properties: { a: { not: {} } } },
    { type: 'object', properties: { a: { pattern: '(' } } },
    { type: 'object', properties: { a: true } },
    { type: 'object', properties: { a: { minLength: -1 } } },
    { type: 'object', properties: { a: { type: 'text' } } },
    { type: 'object', anyOf: [] },
    { type: 'object', constructor: {} },
  ] as unknown as JsonObject[]) {
    test(`is refused: ${JSON.stringify(schema)}`, () => assert.ok(inputsSchemaProblem(schema)));
  }

  test('is refused when it is nested too deep', () => {
    let inner: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 20; depth++) inner = { type: 'array', items: inner };
    assert.match(inputsSchemaProblem({ type: 'object', properties: { a: inner } }) ?? '', /deeper/);
  });

  test('that is taken compiles, whatever it holds, and judges without throwing', () => {
    const schemas = fc.object({ key: fc.constantFrom('type', 'properties', 'items', 'enum', 'pattern', 'anyOf', 'a') });
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (given, value) => {
        const schema = { ...(JSON.parse(JSON.stringify(given)) as JsonObject), type: 'object' };
        if (inputsSchemaProblem(schema) === undefined) compileInputs(schema)(value as JsonValue);
      }),
    );
  });
});
