/** Transactions over the wires: calls join by default and by id, batches are atomic, and MCP clients need no new field. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { BatchResponse, SessionOpened, ToolResponse } from '@tool-runtime/protocol';
import { openStage } from './mcp/stage.ts';
import { type Answer, WAYS } from './mcp/ways.ts';
import { openHost, type TestHost, TOKENS } from './open-host.ts';
import { runCli } from './run-cli.ts';

async function openSession(host: TestHost): Promise<SessionOpened> {
  return (await (await host.request('/v1/sessions', { token: TOKENS.caller, body: {} })).json()) as SessionOpened;
}

let requests = 0;
const nextId = (): string => `r${++requests}`;

async function send<T>(host: TestHost, { token, session_id }: SessionOpened, body: object): Promise<T> {
  const message = { request_id: nextId(), timestamp: 1, session_id, ...body };
  return (await (await host.request('/v1/call', { token, body: message })).json()) as T;
}

describe('transactions over HTTP', () => {
  const call = (host: TestHost, session: SessionOpened, tool: string, args: object, more: object = {}) =>
    send<ToolResponse>(host, session, { type: 'ToolRequest', tool, args, ...more });

  test('a session sees its staged files, others do not, and a commit makes them real at once', async () => {
    await using host = await openHost();
    const [session, other] = [await openSession(host), await openSession(host)];
    const path = (name: string): string => join(host.workspace, name);
    const begun = await call(host, session, 'tx_begin', {});
    const { tx_id } = begun.data as { tx_id: string };
    assert.ok((await call(host, session, 'file_write', { path: 'a.txt', content: 'joined\n' })).ok);
    assert.ok((await call(host, session, 'file_write', { path: 'b.txt', content: 'named\n' }, { tx_id })).ok);
    assert.equal(existsSync(path('a.txt')), false);
    assert.ok((await call(host, session, 'file_read', { path: 'a.txt' })).ok);
    assert.equal((await call(host, other, 'file_read', { path: 'a.txt' })).ok, false);
    const foreign = await call(host, other, 'file_read', { path: 'hello.txt' }, { tx_id });
    assert.deepEqual([foreign.ok, foreign.errors[0]?.details?.['reason']], [false, 'unknown_tx']);
    const listed = await runCli(['changes', '--workspace', host.workspace, '--state', host.state]);
    assert.ok(listed.stdout.includes(tx_id), listed.stdout + listed.stderr);
    const committed = await call(host, session, 'tx_commit', {});
    assert.deepEqual([committed.errors, committed.change_id], [[], tx_id]);
    assert.deepEqual(
      ['a.txt', 'b.txt'].map((name) => readFileSync(path(name), 'utf8')),
      ['joined\n', 'named\n'],
    );
  });

  test('an atomic batch with one failing call changes nothing, and its twin changes everything', async () => {
    await using host = await openHost();
    const session = await openSession(host);
    const batch = (last: object) =>
      send<BatchResponse>(host, session, {
        type: 'BatchRequest',
        atomic: true,
        calls: [
          { request_id: nextId(), tool: 'file_write', args: { path: 'one.txt', content: '1' } },
          { request_id: nextId(), tool: 'fs_move', args: last },
        ],
      });
    const failed = await batch({ from: 'missing.txt', to: 'two.txt' });
    assert.equal(failed.type, 'BatchResponse', JSON.stringify(failed));
    assert.equal(existsSync(join(host.workspace, 'one.txt')), false);
    const done = await batch({ from: 'hello.txt', to: 'two.txt' });
    assert.equal(done.type, 'BatchResponse');
    assert.deepEqual(
      ['one.txt', 'two.txt', 'hello.txt'].map((name) => existsSync(join(host.workspace, name))),
      [true, true, false],
      JSON.stringify(done),
    );
  });
});

/** The policy of the stage asks about everything that writes. */
const YES: Answer = { action: 'accept', content: { decision: 'allow' } };

for (const way of WAYS) {
  test(`the calls of a ${way.name} join its transaction`, async () => {
    await using stage = await openStage(way.kind);
    await using client = await way.open(stage, { onQuestion: () => YES });
    const isThere = (): boolean => existsSync(join(stage.workspace, 'copy.txt'));
    const copy = () => client.call('fs_copy', { from: 'hello.txt', to: 'copy.txt' });
    for (const [tool, isKept] of [
      ['tx_abort', false],
      ['tx_commit', true],
    ] as const) {
      const begun = await client.call('tx_begin', {});
      assert.notEqual(begun.isError, true, JSON.stringify(begun.content));
      const copied = await copy();
      assert.notEqual(copied.isError, true, JSON.stringify(copied.content));
      assert.equal(isThere(), false);
      const ended = await client.call(tool, {});
      assert.notEqual(ended.isError, true, JSON.stringify(ended.content));
      assert.equal(isThere(), isKept);
    }
  });
}
