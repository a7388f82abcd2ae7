import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../wire/within.ts';
import { type Fixture, startFixture } from './conformance/start-fixture.ts';

const WATCHED = 'test://watched-resource';

describe('What a server tells without being asked', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  test('2025: changed lists reach all clients, a changed resource only its subscribers', async () => {
    const client = await openV1(fixture.url);
    const heard: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
    const update = () => client.callTool({ name: 'test_update_watched' });
    const changeTools = () => client.callTool({ name: 'test_trigger_tool_change' });

    await update();
    await changeTools();
    await eventually(() => heard.length > 0, 'the changed list');
    assert.deepEqual(heard, ['tools']);
    await client.subscribeResource({ uri: WATCHED });
    await update();
    await eventually(() => heard.length > 1, 'the changed resource');
    await client.unsubscribeResource({ uri: WATCHED });
    await update();
    await changeTools();
    await eventually(() => heard.length > 2, 'the changed list again');
    assert.deepEqual(heard, ['tools', WATCHED, 'tools']);
    await client.close();
  });

  test('2026: a stream brings what was asked for', async () => {
    const client = new ClientV2(
      { name: 'listener', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new HttpV2(new URL(fixture.url)));
    const heard: string[] = [];
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const subscription = await client.listen({ resourceSubscriptions: [WATCHED] });
    await client.callTool({ name: 'test_trigger_tool_change' });
    await client.callTool({ name: 'test_update_watched' });
    await eventually(() => heard.length > 0, 'the changed resource');
    assert.deepEqual(heard, [WATCHED]);
    await subscription.close();
    await client.close();
  });

  test('2025: words of a call go to the log of a client that set a level, and to no other', async () => {
    const client = await openV1(fixture.url);
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data));
    const talk = () => client.callTool({ name: 'test_tool_with_logging' });
    await talk();
    await client.setLoggingLevel('warning');
    await talk();
    assert.deepEqual(heard, []);
    await client.setLoggingLevel('info');
    await talk();
    await eventually(() => heard.length >= 3, 'the messages');
    assert.deepEqual(heard, ['Tool execution started', 'Tool processing data', 'Tool execution completed']);
    await client.close();
  });
});

async function openV1(url: string): Promise<ClientV1> {
  const client = new ClientV1({ name: 'listener', version: '1' });
  await client.connect(new HttpV1(new URL(url)) as Transport);
  return client;
}
