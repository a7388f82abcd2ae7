import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { trimSchema } from './trim-schema.ts';

describe('trimSchema', () => {
  test('drops the default dialect, bounds of every number, and that keys are strings', () => {
    const schema = z.toJSONSchema(z.strictObject({ a: z.int(), b: z.int().min(1), c: z.record(z.string(), z.json()) }));
    assert.deepEqual(trimSchema(schema), {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer', minimum: 1 }, c: { type: 'object' } },
      required: ['a', 'b', 'c'],
      additionalProperties: false,
    });
  });

  test('keeps other dialects, names that look like keywords, and data', () => {
    const draft = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    assert.deepEqual(trimSchema(draft), draft);
    const names = {
      properties: { $schema: { type: 'string' }, maximum: { const: { maximum: Number.MAX_SAFE_INTEGER } }, $ref: true },
      default: { minimum: Number.MIN_SAFE_INTEGER },
    };
    assert.deepEqual(trimSchema(names), names);
  });

  test('keeps the default dialect where the schema uses words of it', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { a: { $anchor: 'a', type: 'string' } },
    };
    assert.deepEqual(trimSchema(schema), schema);
  });

  test('keeps definitions that say something, and patterns of keys', () => {
    const schema = {
      $defs: { tree: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/tree' } }] } },
      properties: { t: { $ref: '#/$defs/tree' } },
      propertyNames: { type: 'string', pattern: '^a' },
    };
    assert.deepEqual(trimSchema(schema), schema);
  });
});
