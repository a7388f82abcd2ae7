/** Calls that last longer than their request: tasks of the 2026 family, streams of 2025 that are closed and resumed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { TOKENS } from '../open-host.ts';
import { eventually } from '../wire/within.ts';
import { startFixture } from './conformance/start-fixture.ts';
import { findProcesses } from './find-processes.ts';
import { type RpcAnswer, request2026 } from './request-2026.ts';
import { openStage } from './stage.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const TALK = { name: 'shell_exec', arguments: { cmd: 'sh talk' } };

test('a command that runs on becomes a task of its caller; cancelling it ends the command', async () => {
  await using stage = await openStage('http');
  const own = stage.http();
  const request = (method: string, params: Record<string, unknown>, capabilities: object = TASKS): Promise<RpcAnswer> =>
    request2026(own, { method, params, name: String(params['name'] ?? params['taskId']), capabilities });

  const created = (await request('tools/call', TALK)).result ?? {};
  assert.deepEqual([created['resultType'], created['status']], ['task', 'working']);
  const taskId = String(created['taskId']);
  await eventually(async () => (await findProcesses(stage.oddNumber)).length > 0, 'the command');
  assert.equal((await request('tasks/get', { taskId })).result?.['status'], 'working');

  const undeclared = await request('tasks/get', { taskId }, {});
  assert.equal(undeclared.error?.code, -32_021);
  const other = { ...stage.http(TOKENS.caller), url: own.url };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const params = { taskId, ...(method === 'tasks/update' ? { inputResponses: {} } : {}) };
    const answer = await request2026(other, { method, params, name: taskId, capabilities: TASKS });
    assert.equal(answer.error?.code, -32_602, method);
  }
  assert.equal((await request('tasks/get', { taskId })).result?.['status'], 'working');

  await request('tasks/cancel', { taskId });
  const status = async () => (await request('tasks/get', { taskId })).result?.['status'];
  await eventually(async () => (await status()) === 'cancelled', 'the end of the task');
  await eventually(async () => (await findProcesses(stage.oddNumber)).length === 0, 'the end of the command');
  assert.ok((await stage.journal()).some(({ kind }) => kind === 'result'));
});

test('a client that does not declare tasks waits for the answer, and short calls are answered at once', async () => {
  await using stage = await openStage('http');
  const call = (params: Record<string, unknown>, capabilities: object) =>
    request2026(stage.http(), { method: 'tools/call', params, name: String(params['name']), capabilities });
  const limited = { name: 'shell_exec', arguments: { cmd: 'sh talk', timeout_ms: 1500 } };
  const waited = await call(limited, {});
  assert.equal(waited.result?.['resultType'], 'complete');
  const short = await call({ name: 'file_read', arguments: { path: 'hello.txt' } }, TASKS);
  assert.equal(short.result?.['resultType'], 'complete');
});

test('the official client of 2025 comes back for an answer whose stream was closed', async () => {
  const fixture = await startFixture();
  const client = new Client({ name: 'patient', version: '1' });
  const closed: number[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(fixture.url), {
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init?.method === 'GET' && new Headers(init.headers).has('last-event-id')) closed.push(response.status);
      return response;
    },
  });
  try {
    await client.connect(transport as Transport);
    const { content } = await client.callTool({ name: 'test_reconnection' });
    assert.deepEqual(content, [{ type: 'text', text: 'answered after the stream was closed' }]);
    assert.ok(closed.length > 0 && closed.every((status) => status === 200), JSON.stringify(closed));
  } finally {
    await client.close();
    await fixture.stop();
  }
});
