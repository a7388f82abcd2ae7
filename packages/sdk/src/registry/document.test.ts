import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { registryJsonSchema, sections } from './document.ts';

function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every named property of a schema, as `path` and its schema. */
function* properties(schema: JsonValue | undefined, path = ''): Generator<[string, JsonObject]> {
  if (Array.isArray(schema)) for (const one of schema) yield* properties(one as JsonValue, path);
  if (!isMap(schema)) return;
  for (const [name, property] of Object.entries(isMap(schema['properties']) ? schema['properties'] : {})) {
    if (isMap(property)) yield [`${path}${name}`, property];
    yield* properties(property, `${path}${name}.`);
  }
  for (const key of ['items', 'additionalProperties', 'anyOf']) yield* properties(schema[key], path);
}

describe('registryJsonSchema', () => {
  test('is a 2020-12 schema in which nothing is required', () => {
    const schema = registryJsonSchema();
    assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema');
    assert.equal(schema['additionalProperties'], false);
    assert.equal(schema['required'], undefined);
  });

  test('describes every key, so that editors can complete it', () => {
    const undescribed = [...properties(registryJsonSchema())]
      .filter(([path, schema]) => typeof schema['description'] !== 'string' && path !== 'external_tools.name')
      .map(([path]) => path);
    assert.deepEqual(undescribed, []);
  });

  test('begins with the version; the keys of all sections follow', () => {
    const [first, ...keys] = Object.keys(registryJsonSchema()['properties'] as JsonObject);
    assert.equal(first, 'version');
    assert.deepEqual(
      keys,
      sections.flatMap((section) => Object.keys(section.keys)),
    );
    assert.ok(keys.includes('shell_allow') && keys.includes('side_effect_level'));
  });
});
