import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSchema, type JsonSchema } from './describe-schema.ts';

const EXAMPLES: readonly [JsonSchema, string][] = [
  [{}, 'any'],
  [{ type: 'string', minLength: 1 }, 'string not empty'],
  [{ type: 'integer', exclusiveMinimum: 0, maximum: 9 }, 'integer > 0, ≤ 9'],
  [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, 'integer'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ enum: ['a', 'b'] }, '"a" | "b"'],
  [{ const: 1 }, '1'],
  [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [
    { type: 'array', items: { type: 'object', properties: { path: {}, line: {} }, required: ['path'] } },
    '{ path, line? }[]',
  ],
  [{ type: 'object', additionalProperties: { type: 'string' } }, '{ …: string }'],
  [{ type: 'object' }, 'object'],
  [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
];

for (const [schema, expected] of EXAMPLES) {
  test(`${JSON.stringify(schema)} reads as ${expected}`, () => assert.equal(describeSchema(schema), expected));
}
