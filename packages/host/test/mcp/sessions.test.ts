import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TOKENS } from '../open-host.ts';
import { callTool2026, type RpcAnswer } from './request-2026.ts';
import { openStage, type Stage } from './stage.ts';
import { WAYS } from './ways.ts';

const WRITE = { name: 'file_write', arguments: { path: 'new.txt', content: 'x' } };
const YES = { approval: { action: 'accept', content: { decision: 'allow' } } };

describe('MCP and our sessions', () => {
  test('2026 requests with one token share a session, another token has its own', async () => {
    await using stage = await openStage('http');
    const way = WAYS.find(({ kind, family }) => kind === 'http' && family === '2026');
    for (const [name, token] of [
      ['first', TOKENS.operator],
      ['second', TOKENS.operator],
      ['third', TOKENS.other],
    ] as const) {
      await using client = await way!.open(stage, { name, token });
      assert.equal((await client.call('file_read', { path: 'hello.txt' })).isError, undefined);
    }
    const sessions = await calls(stage);
    assert.equal(sessions[0]?.session_id, sessions[1]?.session_id);
    assert.notEqual(sessions[0]?.session_id, sessions[2]?.session_id);
    assert.deepEqual(
      sessions.map(({ actor }) => actor),
      ['operator', 'operator', 'other'],
    );
    assert.match(sessions[0]?.client ?? '', /^first/);
    assert.match(sessions[2]?.client ?? '', /^third/);
  });

  test('each 2025 connection is a session of its own, under the name of its client', async () => {
    await using stage = await openStage('http');
    for (const { name, open } of WAYS.filter(({ kind, family }) => kind === 'http' && family === '2025')) {
      await using client = await open(stage, { name });
      await client.call('file_read', { path: 'hello.txt' });
    }
    const [first, second] = await calls(stage);
    assert.notEqual(first?.session_id, second?.session_id);
    assert.match(first?.client ?? '', /^v1 client/);
    assert.match(second?.client ?? '', /^v2 client/);
  });

  test("a 2025 session is of no use to another token's holder, and lives on", async () => {
    await using stage = await openStage('http');
    const session = await initialize(stage);
    assert.equal(await listStatus(stage, session, TOKENS.other), 404);
    assert.equal(await listStatus(stage, session, TOKENS.operator), 200);
  });
});

describe('State that travels through a 2026 client', () => {
  test('an echo with a yes lets the call go on, once', async () => {
    await using stage = await openStage('http');
    const requestState = await ask(stage);
    const done = await callTool2026(stage.http(), { ...WRITE, requestState, inputResponses: YES });
    assert.equal(done.result?.['isError'], undefined, JSON.stringify(done));
    assert.ok(existsSync(join(stage.workspace, 'new.txt')));
    const replayed = await callTool2026(stage.http(), { ...WRITE, requestState, inputResponses: YES });
    assert.match(replayed.error?.message ?? '', /no longer waiting/);
    assert.equal((await calls(stage)).length, 1);
  });

  test('tampered, it is refused, and the question stays open for the real one', async () => {
    await using stage = await openStage('http');
    const requestState = await ask(stage);
    const middle = Math.floor(requestState.length / 2);
    const other = requestState[middle] === 'A' ? 'B' : 'A';
    for (const tampered of [
      `${requestState}-TAMPERED`,
      `${requestState.slice(0, middle)}${other}${requestState.slice(middle + 1)}`,
      'made up',
    ]) {
      const refused = await callTool2026(stage.http(), { ...WRITE, requestState: tampered, inputResponses: YES });
      assert.equal(refused.error?.code, -32_602);
    }
    assert.ok(!existsSync(join(stage.workspace, 'new.txt')));
    const done = await callTool2026(stage.http(), { ...WRITE, requestState, inputResponses: YES });
    assert.equal(done.error, undefined);
    assert.ok(existsSync(join(stage.workspace, 'new.txt')));
  });

  test('another principal cannot resume a foreign call', async () => {
    await using stage = await openStage('http');
    const requestState = await ask(stage);
    const refused = await callTool2026(stage.http(TOKENS.other), { ...WRITE, requestState, inputResponses: YES });
    assert.equal(refused.error?.code, -32_602);
    assert.ok(!existsSync(join(stage.workspace, 'new.txt')));
  });

  test('a yes that comes before the question does not count', async () => {
    await using stage = await openStage('http');
    const early = await callTool2026(stage.http(), { ...WRITE, inputResponses: YES });
    assert.equal(early.result?.['resultType'], 'input_required');
    assert.ok(!existsSync(join(stage.workspace, 'new.txt')));
  });

  test('coming back without an answer is a no', async () => {
    await using stage = await openStage('http');
    const silent = await callTool2026(stage.http(), { ...WRITE, requestState: await ask(stage), inputResponses: {} });
    assert.equal(silent.result?.['isError'], true);
    assert.ok(!existsSync(join(stage.workspace, 'new.txt')));
  });
});

/** The state a write is given that needs a yes. */
async function ask(stage: Stage): Promise<string> {
  const asked: RpcAnswer = await callTool2026(stage.http(), WRITE);
  assert.equal(asked.result?.['resultType'], 'input_required', JSON.stringify(asked));
  return String(asked.result?.['requestState']);
}

async function calls(stage: Stage) {
  return (await stage.journal()).filter((record) => record.kind === 'requested');
}

async function initialize(stage: Stage): Promise<string> {
  const clientInfo = { name: 'raw', version: '0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const response = await post(stage, { id: 1, method: 'initialize', params }, TOKENS.operator);
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

async function listStatus(stage: Stage, session: string, token: string): Promise<number> {
  const response = await post(stage, { id: 2, method: 'tools/list' }, token, { 'mcp-session-id': session });
  await response.text();
  return response.status;
}

function post(stage: Stage, message: object, token: string, extra: Record<string, string> = {}): Promise<Response> {
  const { url, headers } = stage.http(token);
  return fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...extra,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}
