import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clientMessageSchema, type JsonObject, serverMessageSchema } from '@tool-runtime/protocol';
import { lintDocument, lookUp } from '../../test/document-checks.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { EVENT_KINDS } from './messages.ts';

const document = asyncApiDocument({ version: '1.2.3' });

/** A copy, to break. */
// biome-ignore lint/suspicious/noExplicitAny: foreign data that the tests walk through
function copy(): any {
  return structuredClone(document);
}

function namesIn(action: 'send' | 'receive', channel: string): string[] {
  const operations = Object.values(document['operations'] as Record<string, JsonObject>).filter(
    (operation) =>
      operation['action'] === action && (operation['channel'] as JsonObject)['$ref'] === `#/channels/${channel}`,
  );
  const messages = operations.flatMap((operation) => operation['messages'] as JsonObject[]);
  const replies = Object.values(document['operations'] as Record<string, JsonObject>).flatMap((operation) => {
    const reply = operation['reply'] as JsonObject | undefined;
    return action === 'send' && (reply?.['channel'] as JsonObject | undefined)?.['$ref'] === `#/channels/${channel}`
      ? (reply?.['messages'] as JsonObject[])
      : [];
  });
  const names = [...messages, ...replies].map((message) => String(message['$ref']).split('/').at(-1) ?? '');
  return [...new Set(names)].sort();
}

describe('the AsyncAPI document', () => {
  test('passes the recommended rules of the linter without a remark', async () => {
    assert.deepEqual(await lintDocument(document), []);
  });

  test('the linter finds an operation without a channel, a dangling reference and a field it does not know', async () => {
    const homeless = copy();
    delete homeless.operations.webSocketCall.channel;
    assert.match((await lintDocument(homeless)).join(), /struct at #\/operations\/webSocketCall/);
    const dangling = copy();
    delete dangling.components.schemas.ToolRollup;
    assert.match((await lintDocument(dangling)).join(), /no-unresolved-refs/);
    const unknown = copy();
    unknown.channels.webSocket.adress = '/v1/ws';
    assert.match((await lintDocument(unknown)).join(), /struct at #\/channels\/webSocket\/adress/);
  });

  for (const channel of ['webSocket', 'lines']) {
    test(`every envelope of a client, and every one of the host, has its place on ${channel}`, () => {
      const typesOf = (options: readonly { shape: { type: { value: string } } }[]) =>
        options.map((option) => option.shape.type.value);
      assert.deepEqual(namesIn('receive', channel), typesOf(clientMessageSchema.options).sort());
      const answers = typesOf(serverMessageSchema.options).filter((type) => type !== 'EventMessage');
      assert.deepEqual(namesIn('send', channel), [...answers, ...Object.keys(EVENT_KINDS)].sort());
    });
  }

  test('the stream of events carries events and nothing else', () => {
    assert.deepEqual(namesIn('send', 'events'), Object.keys(EVENT_KINDS).sort());
    assert.deepEqual(namesIn('receive', 'events'), []);
    const query = lookUp(document, '#/operations/eventsAnnounce/bindings/http/query/properties');
    assert.deepEqual(Object.keys(query ?? {}), ['session_id', 'events', 'after']);
  });

  test('servers that can be reached from elsewhere name what a client has to show', () => {
    const secured = Object.entries(document['servers'] as Record<string, JsonObject>).filter(
      ([, server]) => server['security'] !== undefined,
    );
    assert.deepEqual(
      secured.map(([name]) => name),
      ['http', 'webSocket'],
    );
  });

  test('an event has its name as a constant and its own data', () => {
    for (const name of Object.keys(EVENT_KINDS)) {
      const { event, type } = lookUp(document, `#/components/schemas/${name}Event/properties`) as Record<
        string,
        JsonObject
      >;
      assert.deepEqual([event?.['const'], type?.['const']], [name, 'EventMessage']);
    }
    const { data } = lookUp(document, '#/components/schemas/RuleViolationEvent/properties') as Record<
      string,
      JsonObject
    >;
    assert.deepEqual(data?.['required'], ['tool', 'code', 'message']);
  });
});
