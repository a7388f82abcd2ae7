import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SAMPLES } from '../test/sample-messages.ts';
import { clientMessageSchema } from './envelopes/client-message.ts';
import { serverMessageSchema } from './envelopes/server-message.ts';
import type { JsonObject } from './errors.ts';
import { envelopeSchemas } from './json-schemas.ts';

const schemas = envelopeSchemas();

describe('envelopeSchemas', () => {
  test('S0-83 gives every envelope and both unions an id that holds the protocol version', () => {
    assert.deepEqual(
      Object.values(schemas).map((schema) => schema['$id']),
      [
        'tool-request',
        'tool-response',
        'event-message',
        'error-message',
        'heartbeat',
        'session-ack',
        'cancel-request',
        'client-message',
        'server-message',
      ].map((file) => `https://tool-runtime.dev/schemas/v1/${file}.json`),
    );
  });

  for (const [name, sample] of Object.entries(SAMPLES)) {
    test(`S0-83 describes ${name} closed, with the fields a sample has`, () => {
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
