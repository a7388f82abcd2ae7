/** A running host follows its registry: clients of MCP are told, open sessions keep what they were opened with. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { createHostClient } from '@tool-runtime/protocol/client';
import { startHost } from '../../src/start-host.ts';
import { createScratch } from '../run-cli.ts';
import { eventually } from '../wire/within.ts';

const OPEN = 'version: 1\n';
const WITHOUT_READ = 'version: 1\ntools: { file_read: { enabled: false } }\n';

test('an edit of the registry is announced to both protocol families and holds for new sessions; a broken one changes nothing (deep)', async () => {
  using scratch = createScratch();
  scratch.write('hello.txt', 'hello\n');
  const registry = join(scratch.root, 'registry.yaml');
  writeFileSync(registry, OPEN);
  const logged: string[] = [];
  const note = (event: string): void => void logged.push(event);
  const running = await startHost({
    workspaces: [scratch.workspace],
    state: scratch.state,
    http: { hostname: '127.0.0.1', port: 0 },
    runtime: () => ({ registry }),
    log: { debug: note, info: note, warn: note, error: note, dropped: 0 },
  });
  const { url = '', token = '' } = running;
  const heard: string[] = [];
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const address = new URL(`${url}/mcp?profile=full`);
  const old = new ClientV1({ name: 'old', version: '1' });
  old.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('2025'));
  await old.connect(new HttpV1(address, { requestInit }) as Transport);
  const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
  const modern = new ClientV2({ name: 'new', version: '1' }, { versionNegotiation });
  modern.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('2026'));
  await modern.connect(new HttpV2(address, { requestInit }));
  const subscription = await modern.listen({ toolsListChanged: true });
  const own = createHostClient({ url, token });
  const session = await own.openSession({});
  const read = { name: 'file_read', arguments: { path: 'hello.txt' } };
  const names = async () => (await old.listTools()).tools.map(({ name }) => name);
  const isRefused = async () =>
    [(await old.callTool(read)).isError, (await modern.callTool(read)).isError].map(Boolean);
  try {
    assert.ok((await names()).includes('file_read'));
    assert.deepEqual(await isRefused(), [false, false]);
    writeFileSync(registry, WITHOUT_READ);
    await eventually(() => heard.includes('2025') && heard.includes('2026'), 'both notices');
    assert.equal((await names()).includes('file_read'), false);
    assert.deepEqual(await isRefused(), [true, true]);
    const canRead = async (id: string) => (await own.tools(id)).tools.some(({ name }) => name === 'file_read');
    assert.equal(await canRead(session.session_id), true, 'opened before');
    assert.equal(await canRead((await own.openSession()).session_id), false, 'opened after');

    writeFileSync(registry, 'version: 1\nnonsense: [\n');
    await eventually(() => logged.includes('registry_refused'), 'the warning');
    assert.equal((await names()).includes('file_read'), false);
    const told = heard.length;
    writeFileSync(registry, OPEN);
    await eventually(() => heard.length >= told + 2, 'both notices again');
    assert.deepEqual(await isRefused(), [false, false]);
  } finally {
    await subscription.close();
    await Promise.all([old.close(), modern.close()]);
    await running.stop({ now: true });
  }
});
