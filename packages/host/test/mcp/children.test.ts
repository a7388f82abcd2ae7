/** Children over MCP: a model that delegates behind one connection, and an agent that comes with a token of its own. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ChildOpened, SessionOpened } from '@tool-runtime/protocol';
import { TOKENS } from '../open-host.ts';
import { openStage, type Stage } from './stage.ts';
import { type OpenedClient, WAYS, type Way } from './ways.ts';

const READ = { tool: 'file_read', args: { path: 'hello.txt' } };
const httpWays: readonly Way[] = WAYS.filter(({ kind }) => kind === 'http');

async function delegate(client: OpenedClient, args: Record<string, unknown> = {}): Promise<string> {
  const opened = await client.call('child_open', { agent_id: 'helper', ...args });
  assert.equal(opened.isError, undefined, textOf(opened));
  return String(dataOf(opened)['session_id']);
}

function dataOf({ structuredContent }: CallToolResult): Record<string, unknown> {
  return (structuredContent ?? {}) as Record<string, unknown>;
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

/** A session over HTTP and a child of it, each with its token. */
async function openFamily(stage: Stage): Promise<{ parent: SessionOpened; child: ChildOpened }> {
  const post = async (path: string, token: string, body: object): Promise<unknown> => {
    const { url, headers } = stage.http(token);
    const answer = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 201);
    return answer.json();
  };
  const parent = (await post('/v1/sessions', TOKENS.operator, {})) as SessionOpened;
  const path = `/v1/sessions/${parent.session_id}/children`;
  const child = await post(path, parent.token, { agent_id: 'helper', tools: ['file_read', 'grep'] });
  return { parent, child: child as ChildOpened };
}

describe('a model that delegates [S3-46 S3-48]', { concurrency: 2 }, () => {
  for (const { name, kind, open } of WAYS) {
    test(`${name}: opens a child, calls in its session, and ends it`, async () => {
      await using stage = await openStage(kind);
      await using client = await open(stage);
      const listed = (await client.tools()).map((tool) => tool.name);
      assert.ok(['child_open', 'child_call', 'child_close'].every((tool) => listed.includes(tool)));
      const opened = await client.call('child_open', { agent_id: 'helper', tools: ['file_read'] });
      const { session_id, tools, manifest } = dataOf(opened);
      assert.deepEqual(tools, ['file_read']);
      assert.deepEqual((manifest as { retained_capability_ids: string[] }).retained_capability_ids, ['tool.file_read']);
      const read = await client.call('child_call', { session_id, ...READ });
      assert.equal(dataOf(read)['content'], 'hello\n');
      const written = { tool: 'file_write', args: { path: 'x.txt', content: 'x' } };
      const refused = await client.call('child_call', { session_id, ...written });
      assert.equal(refused.isError, true);
      assert.match(textOf(refused), /^E_POLICY: Tool was not handed to this child: file_write/);
      const closed = await client.call('child_close', { session_id });
      assert.equal(dataOf(closed)['calls'], 2, textOf(closed));
      const late = await client.call('child_call', { session_id, ...READ });
      assert.match(textOf(late), /^E_POLICY: Message names a session that is not this one/);
      const journal = await stage.journal();
      const requested = journal.filter((record) => record.kind === 'requested' && record.session_id === session_id);
      assert.equal(requested.length, 2);
      assert.ok(journal.some((record) => record.kind === 'child' && record.event === 'completed'));
    });
  }

  test('what its child may only do with a yes is asked, and counts for the child alone (deep)', async () => {
    for (const { kind, open } of [WAYS[2], WAYS[3], WAYS[5]] as Way[]) {
      await using stage = await openStage(kind);
      const asked: string[] = [];
      await using client = await open(stage, {
        onQuestion(message) {
          asked.push(message);
          return { action: 'accept', content: { decision: 'allow' } };
        },
      });
      const session_id = await delegate(client, { tools: ['file_write'] });
      const write = { tool: 'file_write', args: { path: 'by-child.txt', content: 'x' } };
      const written = await client.call('child_call', { session_id, ...write });
      assert.equal(written.isError, undefined, textOf(written));
      assert.ok(existsSync(join(stage.workspace, 'by-child.txt')));
      assert.equal(asked.length, 1);
      const journal = await stage.journal();
      const approvals = journal.flatMap((record) => (record.kind === 'approval' ? [record.session_id] : []));
      assert.deepEqual([...new Set(approvals)], [session_id]);
    }
  });

  test('reaches no session but the children it opened itself', async () => {
    await using stage = await openStage('http');
    const [way] = httpWays as [Way];
    await using mine = await way.open(stage);
    await using theirs = await way.open(stage);
    const child = await delegate(mine);
    const { parent, child: stranger } = await openFamily(stage);
    for (const session_id of [parent.session_id, stranger.session_id, 'sess-none', '']) {
      assert.equal((await mine.call('child_call', { session_id, ...READ })).isError, true, session_id);
      assert.equal((await mine.call('child_close', { session_id, cancel: true })).isError, true, session_id);
    }
    assert.equal((await theirs.call('child_call', { session_id: child, ...READ })).isError, true);
    assert.equal((await mine.call('child_call', { session_id: child, ...READ })).isError, undefined);
    const own = (await stage.journal()).find((record) => record.kind === 'child');
    assert.ok(own?.kind === 'child');
    const itself = await mine.call('child_call', { session_id: own.session_id, ...READ });
    assert.match(textOf(itself), /not this one/, 'not even its own session');
    // With the parent's own token a child that was opened elsewhere is still not called through here.
    await using holder = await way.open(stage, { token: parent.token });
    const through = await holder.call('child_call', { session_id: stranger.session_id, ...READ });
    assert.match(textOf(through), /not this one/);
  });

  test('asks for no more than it has, and misspells nothing in silence', async () => {
    await using stage = await openStage('http');
    const [way] = httpWays as [Way];
    await using client = await way.open(stage);
    for (const args of [
      {},
      { agent_id: '' },
      { agent_id: 'x', tools: ['no_such_tool'] },
      { agent_id: 'x', folder: '../..' },
      { agent_id: 'x', token: 'y' },
      { agent_id: 'x', registry: 'version: 1' },
    ]) {
      assert.equal((await client.call('child_open', args)).isError, true, JSON.stringify(args));
    }
    assert.equal((await client.call('child_open', { agent_id: 'x', folder: '.' })).isError, undefined);
  });

  test('is offered nothing of it where the profile does not, and then the names are of unknown tools', async () => {
    await using stage = await openStage('http');
    const { url, headers } = stage.http();
    const core: Stage = { ...stage, http: () => ({ url: new URL('/mcp?profile=core', url), headers }) };
    const [way] = httpWays as [Way];
    await using client = await way.open(core);
    assert.deepEqual(
      (await client.tools()).filter(({ name }) => name.startsWith('child_')),
      [],
    );
    const refused = await client.call('child_open', { agent_id: 'x' });
    assert.equal(refused.isError, true);
    assert.equal(
      (await stage.journal()).some((record) => record.kind === 'child'),
      false,
    );
  });
});

describe('an agent with the token of a child [S3-45]', () => {
  for (const { name, open } of httpWays) {
    test(`${name}: sees and uses the child's session and nothing else`, async () => {
      await using stage = await openStage('http');
      const { child } = await openFamily(stage);
      await using client = await open(stage, { token: child.token });
      const listed = (await client.tools()).map((tool) => tool.name).filter((tool) => !tool.startsWith('child_'));
      assert.deepEqual(listed, ['file_read', 'grep']);
      assert.equal((await client.call('file_read', { path: 'hello.txt' })).isError, undefined);
      const refused = await client.call('fs_list', { glob: '*' });
      assert.match(textOf(refused), /not handed to this child/);
      const journal = await stage.journal();
      const sessions = journal.flatMap((record) => (record.kind === 'requested' ? [record.session_id] : []));
      assert.deepEqual([...new Set(sessions)], [child.session_id]);
    });
  }

  test('has no use for the MCP session of its parent', async () => {
    await using stage = await openStage('http');
    const { parent, child } = await openFamily(stage);
    const session = await initialize(stage, parent.token);
    assert.equal(await listStatus(stage, session, child.token), 404);
    assert.equal(await listStatus(stage, session, TOKENS.operator), 404, 'nor has its owner, who has more');
    assert.equal(await listStatus(stage, session, parent.token), 200);
  });
});

async function initialize(stage: Stage, token: string): Promise<string> {
  const clientInfo = { name: 'raw', version: '0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const response = await post(stage, token, { id: 1, method: 'initialize', params });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

async function listStatus(stage: Stage, session: string, token: string): Promise<number> {
  const response = await post(stage, token, { id: 2, method: 'tools/list' }, { 'mcp-session-id': session });
  await response.text();
  return response.status;
}

function post(stage: Stage, token: string, message: object, extra: Record<string, string> = {}): Promise<Response> {
  const { url, headers } = stage.http(token);
  const accept = 'application/json, text/event-stream';
  return fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept, ...extra },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}
