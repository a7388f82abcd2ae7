/** Mounted servers through the routes of a host: what waits is shown, approved by its digest, and usable at once. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ToolError, ToolResponse } from '@tool-runtime/protocol';
import { createHostClient, type HostClient } from '@tool-runtime/protocol/client';
import { lazyGateway } from '../../src/mcp/gateway/lazy-gateway.ts';
import { type RunningHost, startHost } from '../../src/start-host.ts';
import { createScratch } from '../run-cli.ts';
import { eventually } from '../wire/within.ts';
import { mounted, told } from './gateway-stage.ts';

const scratch = createScratch();
const define = (tools: readonly object[]): void =>
  writeFileSync(join(scratch.workspace, 'tools.json'), JSON.stringify(tools));
const [WORK, WAIT] = [
  { name: 'work', description: 'Does work' },
  { name: 'wait', description: 'Never answers' },
];

describe('mounted servers over HTTP (deep)', () => {
  let running: RunningHost;
  let client: HostClient;
  before(async () => {
    define([WORK, WAIT]);
    const text = JSON.stringify({ version: 1, ...mounted({ helper: told() }) });
    running = await startHost({
      workspaces: [scratch.workspace],
      state: scratch.state,
      http: { hostname: '127.0.0.1', port: 0 },
      runtime: () => ({ registry: { text, file: 'tool-runtime.yaml' }, sources: [lazyGateway()] }),
    });
    client = createHostClient({ url: running.url ?? '', token: running.token ?? '' });
  });
  after(async () => {
    await running.stop({ now: true });
    scratch[Symbol.dispose]();
  });

  const states = async (): Promise<Record<string, string>> => {
    const [server] = (await client.mcpServers()).servers;
    return Object.fromEntries((server?.tools ?? []).map(({ tool, state }) => [tool, state]));
  };
  const call = async (tool: string): Promise<ToolResponse> => {
    const { session_id } = await client.openSession();
    return (await client.call(session_id, { tool, args: {} })) as ToolResponse;
  };
  const usable = (tool: string) =>
    eventually(async () => (await client.tools()).tools.some(({ name }) => name === tool), `${tool} in a new session`);

  test('a new tool waits until the version that was shown is approved, and is then usable', async () => {
    assert.deepEqual(await states(), {});
    const { waiting, total } = await client.refreshMcpServer('helper');
    assert.deepEqual(
      waiting.map(({ tool, state }) => [tool, state]),
      [
        ['work', 'new'],
        ['wait', 'new'],
      ],
    );
    assert.equal(total, 2);
    assert.match(waiting[0]?.diff ?? '', /^\+ {2}"description": "Does work"/m);
    assert.deepEqual(await states(), { work: 'new', wait: 'new' });
    const { approved } = await client.approveTools('helper', {
      tools: waiting.map(({ tool, digest }) => ({ tool, digest })),
    });
    assert.deepEqual(approved, ['work', 'wait']);
    await usable('helper_work');
    assert.equal((await call('helper_work')).ok, true);
    const [server] = (await client.mcpServers()).servers;
    assert.match(server?.registry ?? '', /^tool-runtime\.yaml:\d+$/);
    assert.equal(server?.tools[0]?.name, 'helper_work');
  });

  test('asking again disturbs no call that runs', async () => {
    const { session_id } = await client.openSession();
    let isOver = false;
    const hanging = client.call(session_id, { tool: 'helper_wait', args: {} }).finally(() => {
      isOver = true;
    });
    await eventually(async () => (await client.mcpServers()).servers[0]?.is_running === true, 'the server runs');
    assert.equal((await client.refreshMcpServer('helper')).total, 0);
    assert.equal(isOver, false);
    await client.closeSession(session_id, { mode: 'cancel' });
    await hanging;
  });

  test('a changed tool is refused until its new version is approved; a version that was replaced is not approved', async () => {
    define([{ name: 'work', description: 'Does other work' }, WAIT]);
    const first = (await client.refreshMcpServer('helper')).waiting[0];
    assert.equal(first?.state, 'changed');
    assert.match(first.diff, /^- {2}"description": "Does work"/m);
    assert.match(first.diff, /^\+ {2}"description": "Does other work"/m);
    assert.deepEqual(await states(), { work: 'changed', wait: 'approved' });
    define([{ name: 'work', description: 'Sends everything away' }, WAIT]);
    const second = (await client.refreshMcpServer('helper')).waiting[0];
    await assert.rejects(
      client.approveTools('helper', { tools: [{ tool: 'work', digest: first.digest }] }),
      ({ details }: ToolError) => details['reason'] === 'definition_changed' && details['next'] !== undefined,
    );
    assert.deepEqual(await states(), { work: 'changed', wait: 'approved' });
    const tools = [{ tool: 'work', digest: second?.digest ?? '' }];
    assert.deepEqual((await client.approveTools('helper', { tools })).approved, ['work']);
    // A second person who approves the same version is told that there was nothing left to do.
    assert.deepEqual((await client.approveTools('helper', { tools })).approved, []);
    assert.deepEqual(await states(), { work: 'approved', wait: 'approved' });
  });

  test('one version that does not wait refuses all of them', async () => {
    define([WORK, { name: 'wait', description: 'Hangs' }]);
    const { waiting } = await client.refreshMcpServer('helper');
    const tools = [...waiting.map(({ tool, digest }) => ({ tool, digest })), { tool: 'constructor', digest: 'x' }];
    await assert.rejects(client.approveTools('helper', { tools }), /does not wait for approval: helper, constructor/);
    assert.deepEqual(await states(), { work: 'changed', wait: 'changed' });
  });

  test('samples of the metrics count servers, those that run, and tools that wait', async () => {
    running.host.history.sample();
    const sample = (await client.metricsHistory()).samples.at(-1);
    assert.equal(sample?.servers.mounted, 1);
    assert.equal(sample.servers.waiting, 2);
  });
});
