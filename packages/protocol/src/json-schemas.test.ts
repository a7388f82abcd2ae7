import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { SAMPLES } from '../test/sample-messages.ts';
import { clientMessageSchema } from './envelopes/client-message.ts';
import { serverMessageSchema } from './envelopes/server-message.ts';
import { openSessionSchema } from './envelopes/sessions.ts';
import { bodySchemas, describeSchemas, envelopeSchemas } from './json-schemas.ts';
import type { JsonObject } from './primitives/errors.ts';

const schemas = envelopeSchemas();

function fileOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter, at) => (at === 0 ? letter : `-${letter}`)).toLowerCase();
}

describe('envelopeSchemas', () => {
  test('gives every envelope and both unions an id that holds the protocol version [S0-83]', () => {
    const shared = ['BatchStrategy', 'Capabilities', 'PolicyRef', 'StripManifest', 'Usage'];
    const unions = ['ClientMessage', 'ServerMessage'];
    assert.deepEqual(Object.keys(schemas).sort(), [...Object.keys(SAMPLES), ...shared, ...unions].sort());
    for (const schema of Object.values(schemas)) {
      assert.match(String(schema['$id']), /^https:\/\/tool-runtime\.dev\/schemas\/v1\/[a-z]+(-[a-z]+)?\.json$/);
      assert.equal(`${fileOf(String(schema['title']))}.json`, String(schema['$id']).split('/').at(-1));
    }
  });

  for (const [name, sample] of Object.entries(SAMPLES)) {
    test(`describes ${name} closed, with the fields a sample has [S0-83]`, () => {
      const schema = schemas[name as keyof typeof schemas];
      assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema');
      assert.equal(schema['type'], 'object');
      assert.equal(schema['additionalProperties'], false);
      assert.deepEqual(schema['required'], Object.keys(sample));
      assert.deepEqual((schema['properties'] as JsonObject)['type'], { type: 'string', const: name });
    });
  }

  test('says of each field what the parser demands', () => {
    const { args, request_id, timestamp, timeout_ms } = schemas.ToolRequest['properties'] as Record<string, JsonObject>;
    assert.deepEqual(args, { type: 'object' });
    assert.equal(timestamp?.['minimum'], 0);
    assert.equal(timeout_ms?.['type'], 'integer');
    assert.equal(request_id?.['minLength'], 1);
    assert.equal(request_id?.['maxLength'], 512);
    const pattern = new RegExp(String(request_id?.['pattern']), 'u');
    assert.deepEqual(
      ['ok 🎉', 'a\u0000', '\ud800', 'a\u0085'].map((id) => pattern.test(id)),
      [true, false, false, false],
    );
  });

  test('the unions list exactly the messages that the parsers take', () => {
    const members = (name: 'ClientMessage' | 'ServerMessage') =>
      (schemas[name]['oneOf'] as readonly JsonObject[]).map((member) => member['$ref']);
    const idsOf = (options: readonly { shape: { type: { value: string } } }[]) =>
      options.map((option) => schemas[option.shape.type.value as keyof typeof schemas]['$id']);
    assert.deepEqual(members('ClientMessage'), idsOf(clientMessageSchema.options));
    assert.deepEqual(members('ServerMessage'), idsOf(serverMessageSchema.options));
  });

  test('holds no annotation that readers would misunderstand', () => {
    assert.ok(!JSON.stringify(schemas).includes('readOnly'));
  });
});

describe('the published schemas', () => {
  test('compile together, take every sample and refuse it with a field too many', () => {
    const ajv = new Ajv2020({ schemas: Object.values({ ...schemas, ...bodySchemas() }), strictTypes: false });
    for (const [name, sample] of Object.entries(SAMPLES)) {
      const own = String(schemas[name as keyof typeof schemas]['$id']);
      assert.equal(ajv.validate(own, sample), true, `${name}: ${ajv.errorsText()}`);
      assert.equal(ajv.validate(own, { ...sample, surprise: 1 }), false, name);
    }
    for (const schema of Object.values(bodySchemas())) assert.ok(ajv.getSchema(String(schema['$id'])));
  });

  test('hold every body of a route under its own name, and what bodies share once', () => {
    const bodies = bodySchemas();
    assert.deepEqual((bodies['OpenSession']!['properties'] as Record<string, JsonObject>)['capabilities'], {
      $ref: bodies['Capabilities']?.['$id'],
      description: 'A further ceiling; asking for more than allowed is refused',
    });
  });
});

describe('describeSchemas', () => {
  test('answers references for what has a name and the schema itself for what has none', () => {
    const { given, named } = describeSchemas(
      { body: openSessionSchema, list: z.strictObject({ all: z.array(openSessionSchema) }), plain: z.string() },
      (name) => `#/here/${name}`,
    );
    assert.deepEqual(given.body, { $ref: '#/here/OpenSession' });
    assert.deepEqual((given.list['properties'] as JsonObject)['all'], {
      type: 'array',
      items: { $ref: '#/here/OpenSession' },
    });
    assert.deepEqual(given.plain, { type: 'string' });
    assert.deepEqual(Object.keys(named).sort(), ['Capabilities', 'OpenSession']);
  });

  test('a field with a default may be left out', () => {
    const { given } = describeSchemas({ query: z.strictObject({ mode: z.enum(['a', 'b']).default('a') }) }, String);
    assert.deepEqual(given.query['required'], undefined);
    assert.deepEqual((given.query['properties'] as Record<string, JsonObject>)['mode']?.['default'], 'a');
  });
});
