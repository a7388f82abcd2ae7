import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { registryJsonSchema } from './document.ts';

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

  test('names every section of the format', () => {
    const sections = Object.keys(registryJsonSchema()['properties'] as JsonObject).toSorted();
    assert.deepEqual(sections, [
      'allowed_tools',
      'approvals',
      'arg_constraints',
      'ast',
      'branch_pattern',
      'budgets',
      'capabilities',
      'children',
      'commands',
      'coordinator',
      'durability',
      'external_tools',
      'git',
      'import_rules',
      'isolation',
      'limits',
      'mcp_servers',
      'network',
      'protected_branches',
      'providers',
      'recursion_limit',
      'retention',
      'secrets',
      'shell_allow',
      'side_effect_level',
      'test_globs',
      'tool_profiles',
      'tools',
      'validators',
      'version',
    ]);
  });
});
