import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
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

  test('completes names of tools and rules in lists and keys, and takes others too', () => {
    const schema = registryJsonSchema({ tools: ['grep', 'file_read'], rules: ['secrets.scan'] });
    const { $defs, properties } = schema as { $defs: JsonObject; properties: Record<string, JsonObject> };
    assert.deepEqual($defs, {
      tool: { anyOf: [{ enum: ['file_read', 'grep'] }, { type: 'string' }] },
      rule: { anyOf: [{ enum: ['secrets.scan'] }, { type: 'string' }] },
    });
    assert.deepEqual(properties['allowed_tools']?.['items'], { $ref: '#/$defs/tool' });
    assert.deepEqual(Object.keys(properties['tools']?.['properties'] as JsonObject), ['file_read', 'grep']);
    assert.match(JSON.stringify(properties['validators']), /"rule":\{[^}]*"\$ref":"#\/\$defs\/rule"/);
    const validate = new Ajv2020({ formats: { uri: true } }).compile(schema);
    const named = {
      tools: { grep: { timeout_ms: 5 }, mine: {} },
      allowed_tools: ['mine_*'],
      validators: [{ rule: 'own' }],
    };
    assert.equal(validate(named), true, JSON.stringify(validate.errors));
    assert.equal(validate({ tools: { grep: { timeout: 5 } } }), false);
  });
});
