/** Children that work on another host than their parent: real servers, hosts that are processes of their own. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createHostClient, type HostChildSession } from '@tool-runtime/protocol/client';
import { createDialer } from '../src/bus/dial.ts';
import { askThrough, FLEET_URL, tunnelFetch } from '../src/bus/tunnel-fetch.ts';
import { openWire } from '../src/wire/open-wire.ts';
import { type HostProcess, startFleet, startHostProcess, type TestFleet } from './fixtures.ts';

const ALL = { type: 'inherit_allowlist' } as const;
const SHELL = 'shell: { mode: sandboxed }\n';

type Client = Awaited<ReturnType<TestFleet['client']>>;
type Caller = Pick<Client, 'call'>;

interface Scene {
  readonly fleet: TestFleet;
  readonly a: HostProcess;
  readonly b: HostProcess;
  /** The folder of a workspace. */
  at(workspace: 'shop' | 'docs', file: string): string;
  startB(): HostProcess;
  client(workspace?: string, more?: Parameters<TestFleet['client']>[0]): Promise<Client>;
}

/** Host a holds shop, b holds docs. */
async function openScene(
  t: TestContext,
  registries: { readonly a?: string; readonly b?: string } = {},
  count: 1 | 3 = 1,
): Promise<Scene> {
  const fleet = await startFleet(t, { count });
  const start = (name: 'a' | 'b', workspace: string, text: string): HostProcess => {
    const folder = path.join(fleet.folder, workspace);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'a.txt'), `of ${workspace}\n`);
    const registry = path.join(fleet.folder, `registry-${name}.yaml`);
    writeFileSync(registry, `version: 1\n${text}`);
    const state = path.join(fleet.folder, `state-${name}`);
    return startHostProcess(t, name, { workspace: folder, file: fleet.write(name), state, registry });
  };
  const startB = (): HostProcess => start('b', 'docs', registries.b ?? SHELL);
  const a = start('a', 'shop', registries.a ?? SHELL);
  const b = startB();
  await Promise.all([a.logged('workspace_held'), b.logged('workspace_held')]);
  return {
    ...{ fleet, a, b, startB },
    at: (workspace, file) => path.join(fleet.folder, workspace, file),
    client: (workspace = 'shop', more = {}) => fleet.client({ workspace, ...more }),
  };
}

function refusedWith(reason: string) {
  return (thrown: unknown): boolean => {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.details['reason'], reason, JSON.stringify(thrown.details));
    return true;
  };
}

/** Calls until one is refused; the number of those that were not. */
async function spend(session: Caller, most = 50): Promise<number> {
  for (let made = 0; made < most; made += 1) {
    if (!(await session.call('file_read', { path: 'a.txt' })).ok) return made;
  }
  return most;
}

const read = async (session: Caller): Promise<unknown> => {
  const answer = await session.call('file_read', { path: 'a.txt' });
  assert.ok(answer.ok, JSON.stringify(answer.errors));
  return (answer.data as { readonly content?: unknown }).content;
};

async function appeared(file: string): Promise<void> {
  while (!existsSync(file)) await new Promise((wake) => setTimeout(wake, 10));
}

describe('a child in the workspace of another host', () => {
  test('works there, with what it kept of its parent, and tells what it used', async (t) => {
    const { at, client } = await openScene(t);
    const parent = await client();
    const child = await parent.openChild({ agent_id: 'reviewer', workspace: 'docs' });
    assert.equal(await read(child), 'of docs\n');
    const refused = await child.call('file_write', { path: 'x', content: 'x' });
    assert.equal(refused.errors[0]?.details?.['reason'], 'stripped');
    assert.equal(child.session.actor, 'agent/reviewer');
    assert.equal(child.session.parent_session_id, parent.session.session_id);
    assert.ok(!child.session.tools.includes('file_write') && child.session.tools.includes('file_read'));
    const writer = await parent.openChild({ agent_id: 'writer', workspace: 'docs', tools: ['file_write'] });
    assert.equal((await writer.call('file_write', { path: 'x', content: 'from afar' })).ok, true);
    assert.equal(readFileSync(at('docs', 'x'), 'utf8'), 'from afar');
    assert.equal(existsSync(at('shop', 'x')), false);
    assert.equal((await child.complete()).calls, 2);
    assert.equal((await writer.cancel()).calls, 1);
    assert.equal(await read(parent), 'of shop\n');
    await parent.close();
  });

  test('has children of its own, also back where it came from', async (t) => {
    const { client } = await openScene(t, { a: `recursion_limit: 3\n${SHELL}`, b: `recursion_limit: 3\n${SHELL}` });
    const parent = await client();
    const child = await parent.openChild({ agent_id: 'there', workspace: 'docs' });
    const near = await child.openChild({ agent_id: 'near' });
    assert.equal(await read(near), 'of docs\n');
    const back = await near.openChild({ agent_id: 'back', workspace: 'shop' });
    assert.equal(await read(back), 'of shop\n');
    assert.equal(back.session.actor, 'agent/there/near/back');
    await assert.rejects(back.openChild({ agent_id: 'deeper' }), isToolError);
    await back.complete();
    await near.complete();
    assert.equal((await child.complete()).calls, 2, 'the calls of its children');
    const same = await parent.openChild({ agent_id: 'same', workspace: 'shop' });
    assert.equal(await read(same), 'of shop\n');
    await parent.close();
  });

  test('is held by both registries', async (t) => {
    const narrow = 'allowed_tools: [file_read, grep]\n';
    const first = await openScene(t, { a: narrow, b: SHELL });
    const child = await (await first.client()).openChild({ agent_id: 'one', workspace: 'docs', tools: ALL });
    assert.deepEqual([...child.session.tools].sort(), ['file_read', 'grep']);
    const second = await openScene(t, { a: SHELL, b: narrow });
    const other = await (await second.client()).openChild({ agent_id: 'one', workspace: 'docs', tools: ALL });
    assert.deepEqual([...other.session.tools].sort(), ['file_read', 'grep']);
    const free = await openScene(t);
    const able = await (await free.client()).openChild({ agent_id: 'one', workspace: 'docs', tools: ALL });
    assert.equal((await able.call('shell_exec', { cmd: 'true' })).ok, true);
  });

  test('spends its share and no more, and the rest goes back', async (t) => {
    const { client } = await openScene(t, { a: `budgets: { max_calls: 12 }\n${SHELL}` });
    const parent = await client();
    const open = (budget: object): Promise<HostChildSession> =>
      parent.openChild({ agent_id: 'one', workspace: 'docs', budget });
    await assert.rejects(open({}), refusedWith('budget_share_missing'));
    await assert.rejects(open({ max_calls: 13 }), refusedWith('budget_overreach'));
    const [one, other] = [await open({ max_calls: 4 }), await open({ max_calls: 5 })];
    const takers = await Promise.all([spend(one), spend(one), spend(other)]);
    assert.deepEqual([(takers[0] ?? 0) + (takers[1] ?? 0), takers[2]], [4, 5]);
    await one.complete();
    await other.complete();
    const last = await open({ max_calls: 2 });
    assert.equal(await spend(last, 1), 1);
    assert.equal((await last.complete()).calls, 1);
    assert.equal(await spend(parent), 2, 'twelve, less four, five and one');
    await parent.close();
  });

  test('ends with its parent, and its running calls with it', async (t) => {
    const { at, client, b } = await openScene(t);
    const parent = await client();
    const child = await parent.openChild({ agent_id: 'one', workspace: 'docs', tools: ALL });
    const calling = child.call('shell_exec', { cmd: 'touch began; sleep 600', timeout_ms: 600_000 });
    const ended = calling.then(
      (answer) => answer.ok,
      () => false,
    );
    await appeared(at('docs', 'began'));
    await parent.close();
    assert.equal(await ended, false);
    await b.logged('session_closed');
  });

  test('ends when its parent’s host is lost', async (t) => {
    const { at, client, a, b } = await openScene(t);
    const parent = await client();
    const child = await parent.openChild({ agent_id: 'one', workspace: 'docs', tools: ALL });
    const calling = child.call('shell_exec', { cmd: 'touch began; sleep 600', timeout_ms: 600_000 });
    const ended = calling.then(
      (answer) => answer.ok,
      () => false,
    );
    await appeared(at('docs', 'began'));
    a.process.kill('SIGKILL');
    assert.equal(await ended, false);
    await b.logged('session_closed');
  });

  test('of a host that is lost is over, its share is spent, and its parent goes on', async (t) => {
    const { client, a, b, startB } = await openScene(t, { a: `budgets: { max_calls: 12 }\n${SHELL}` });
    const parent = await client();
    const open = (): Promise<HostChildSession> =>
      parent.openChild({ agent_id: 'one', workspace: 'docs', budget: { max_calls: 5 } });
    const child = await open();
    assert.equal(await spend(child, 2), 2);
    b.process.kill('SIGKILL');
    await a.logged('session_closed');
    const again = startB();
    await again.logged('workspace_held');
    await assert.rejects(child.call('file_read', { path: 'a.txt' }), isToolError);
    const next = await open();
    assert.equal(await spend(next), 5);
    await next.complete();
    assert.equal(await spend(parent), 2, 'twelve, less two whole shares');
    await parent.close();
  });

  test('lives through the death of every server, one after the other', async (t) => {
    const { fleet, client, b } = await openScene(t, {}, 3);
    const parent = await client();
    const child = await parent.openChild({ agent_id: 'one', workspace: 'docs' });
    for (const server of fleet.servers.servers) {
      server.kill('SIGKILL');
      await server.ended();
      assert.equal(await read(child), 'of docs\n');
      await server.start();
    }
    assert.equal(
      b.log.some((line) => line.includes('session_closed')),
      false,
    );
    assert.equal((await child.complete()).calls, 3);
    await parent.close();
  });
});

describe('what a stolen token of such a child is good for', () => {
  test('nothing: neither for another client nor for the one that has it', async (t) => {
    const { fleet, client } = await openScene(t);
    const parent = await client();
    const wire = await openWire(fleet.file('agent'), 'test');
    const dialer = createDialer(wire);
    t.after(async () => {
      dialer.close();
      await wire.close();
    });
    const fetch = tunnelFetch(async () => dialer.open('shop'));
    const host = createHostClient({ url: FLEET_URL, token: parent.session.token, fetch });
    const stand = await host.openChild(parent.session.session_id, { agent_id: 'one', workspace: 'docs', tools: ALL });
    const under = { workspace: 'shop', session_id: stand.session_id, token: stand.token };
    // Another client, which the servers let through to both workspaces.
    const thief = { credentials: { user: 'maria', password: 'of-maria' }, waitMs: 0, reconnect: { attempts: 1 } };
    const session = (given: object) => client('docs', { ...thief, session: given });
    await assert.rejects(session({ under }), refusedWith('unknown_session'));
    await (await session({})).close();
    // The client itself, at the entrance that is for hosts.
    const taking = await askThrough(dialer.open('shop'), {
      method: 'POST',
      path: `/v1/sessions/${stand.session_id}/elsewhere`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: stand.token, holder: 'me' }),
    });
    assert.equal(taking.statusCode, 404);
    taking.resume();
    // It makes no calls where its parent is.
    const own = createHostClient({ url: FLEET_URL, token: stand.token, fetch });
    const answer = await own.call(stand.session_id, { tool: 'file_read', args: { path: 'a.txt' } });
    assert.ok(answer.type === 'ToolResponse' && !answer.ok);
    assert.equal(answer.errors[0]?.details?.['reason'], 'works_elsewhere');
    // A wrong token, then the right one, then the right one again: one session works under it.
    const mine = (given: object) => client('docs', { waitMs: 0, session: given });
    await assert.rejects(mine({ under: { ...under, token: parent.session.token } }), refusedWith('unknown_session'));
    const child = await mine({ under });
    assert.equal(await read(child), 'of docs\n');
    await assert.rejects(mine({ under }), refusedWith('child_taken'));
    await child.close();
    await assert.rejects(mine({ under }), refusedWith('unknown_session'));
    await parent.close();
  });
});
