import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openMember } from '../../test/fleet-member.ts';

test('a caller opens sessions in the workspace it was let through to, whatever it asks for', async (t) => {
  const { root, ask } = await openMember(t);
  const caller = { user: 'agent', workspace: 'two' };
  const named = await ask(caller, 'POST', '/v1/sessions', { workspace: 'one' });
  assert.deepEqual([named.status, named.body.workspace, named.body.actor], [201, join(root, 'two'), 'agent']);
  const other = await ask({ ...caller, workspace: 'one' }, 'POST', '/v1/sessions', {});
  assert.equal(other.body.workspace, join(root, 'one'));
});

test('a caller reaches its own sessions only, also of the same name in another workspace', async (t) => {
  const { ask } = await openMember(t);
  const caller = { user: 'agent', workspace: 'one' };
  const { body } = await ask(caller, 'POST', '/v1/sessions', {});
  const path = `/v1/sessions/${body.session_id}`;
  assert.equal((await ask(caller, 'GET', path)).status, 200);
  assert.equal((await ask({ ...caller, workspace: 'two' }, 'GET', path)).status, 404);
  assert.equal((await ask({ ...caller, user: 'other' }, 'GET', path)).status, 404);
});

test('a caller is neither administrator nor approver, unless the host names it as one', async (t) => {
  const { ask } = await openMember(t);
  const caller = { user: 'agent', workspace: 'one' };
  assert.equal((await ask(caller, 'POST', '/v1/drain')).status, 403);
  assert.equal((await ask(caller, 'GET', '/v1/approvals')).status, 403);
  assert.equal((await ask({ ...caller, mayApprove: true }, 'GET', '/v1/approvals')).status, 200);
  assert.equal((await ask(caller, 'GET', '/v1/sessions')).status, 200);
});

test('a caller is answered from the workspace it was let through to, whatever it asks about', async (t) => {
  const { ask } = await openMember(t, { one: 'version: 1\nallowed_tools: [file_read]\n' });
  const caller = { user: 'agent', workspace: 'two' };
  const tool = { tool: 'file_write', args: { path: 'x', content: 'x' } };
  const decisionFor = async (workspace: string): Promise<unknown> =>
    (await ask({ ...caller, workspace }, 'POST', '/v1/policy/explain', tool)).body.decision;
  assert.deepEqual([await decisionFor('one'), await decisionFor('two')], ['deny', 'allow']);
});

test('a caller learns nothing about the host beyond its workspace', async (t) => {
  const { ask } = await openMember(t);
  const caller = { user: 'agent', workspace: 'two' };
  for (const path of ['/v1/status', '/v1/metrics/history', '/metrics']) {
    assert.equal((await ask(caller, 'GET', path)).status, 403, path);
  }
});

test('two callers whose names run together are two owners', async (t) => {
  const { ask } = await openMember(t, {}, ['one', 'one:x']);
  const { body } = await ask({ user: 'x:agent', workspace: 'one' }, 'POST', '/v1/sessions', {});
  const other = { user: 'agent', workspace: 'one:x' };
  assert.equal((await ask(other, 'GET', `/v1/sessions/${body.session_id}`)).status, 404);
});

test('a caller over MCP sees the tools of its workspace', async (t) => {
  const { ask } = await openMember(t, { one: 'version: 1\nallowed_tools: [file_read]\n' });
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  };
  const mayWrite = async (workspace: string): Promise<boolean> => {
    const { body } = await ask({ user: 'agent', workspace }, 'POST', '/mcp', list, { headers });
    return body.result.tools.some(({ name }: { readonly name: string }) => name === 'file_write');
  };
  assert.deepEqual([await mayWrite('one'), await mayWrite('two')], [false, true]);
});
