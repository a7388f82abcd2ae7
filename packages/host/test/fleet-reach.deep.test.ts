/** Two hosts of a fleet on real servers: MCP and approvals through either of them, limits, artifacts, budgets. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connectToFleet } from '@tool-runtime/fleet';
import { type FleetUser, startDevServers } from '@tool-runtime/fleet/operate';
import type { PendingApproval } from '@tool-runtime/protocol';
import type { HostSession } from '@tool-runtime/protocol/client';
import { createTokenBook } from '../src/auth/tokens.ts';
import { joinFleetOf } from '../src/fleet/join.ts';
import { createLog } from '../src/ops/log.ts';
import { type RunningHost, startHost } from '../src/start-host.ts';

const USERS: readonly FleetUser[] = [
  { user: 'a', password: 'of-a', kind: 'host' },
  { user: 'b', password: 'of-b', kind: 'host' },
  { user: 'agent', password: 'of-agent', kind: 'client' },
  { user: 'status', password: 'of-status', kind: 'system' },
];
const TOKENS = { a: 'token-of-host-a-0123456789-0123456789', b: 'token-of-host-b-0123456789-0123456789' };

interface Fleet {
  readonly root: string;
  readonly addresses: readonly string[];
  start(name: 'a' | 'b', workspaces: readonly string[], more?: object, registry?: string): Promise<RunningHost>;
  client(workspace: string): Promise<HostSession>;
}

async function openFleet(t: TestContext): Promise<Fleet> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleet-reach-')));
  const servers = await startDevServers({ folder: join(root, 'servers'), count: 1, tenant: 'main', users: USERS });
  const hosts: RunningHost[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.stop({ now: true })));
    await servers.close();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    addresses: servers.addresses,
    async start(name, workspaces, more = {}, registry = 'version: 1\nshell: { mode: sandboxed }\n') {
      const folders = workspaces.map((workspace) => join(root, workspace));
      for (const folder of folders) mkdirSync(folder, { recursive: true });
      const file = join(root, `${name}.yaml`);
      const credentials = { user: name, password: `of-${name}` };
      const system = { user: 'status', password: 'of-status' };
      const own = {
        servers: servers.addresses,
        credentials,
        system,
        host: name,
        replicas: 1,
        lease_ms: 15_000,
        ...more,
      };
      writeFileSync(file, JSON.stringify(own));
      const log = createLog({ stream: process.stderr, level: 'error', format: 'text', redact: (text) => text });
      const host = await startHost({
        workspaces: folders,
        state: join(root, `state-${name}`),
        http: { hostname: '127.0.0.1', port: 0 },
        tokens: createTokenBook({ lines: [TOKENS[name]], now: Date.now }),
        runtime: { registry: { text: registry, file: 'registry.yaml' } },
        fleet: await joinFleetOf({ file, folders, version: '0', log }),
        log,
      });
      hosts.push(host);
      return host;
    },
    async client(workspace) {
      const client = await connectToFleet({
        servers: [...servers.addresses],
        credentials: { user: 'agent', password: 'of-agent' },
        workspace,
        waitMs: 300_000,
      });
      // One that a failed test left open would keep the process alive.
      t.after(() => void client.close().catch(() => undefined));
      return client;
    },
  };
}

async function overMcp(t: TestContext, { url }: RunningHost, token: string, query: string): Promise<Client> {
  const client = new Client({ name: 'reach', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

async function ask(
  host: RunningHost,
  token: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: never }> {
  const answer = await fetch(`${host.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as never };
}

describe('through any host of a fleet', () => {
  test('MCP reaches the workspaces of this host and of others, and no host is told', async (t) => {
    const fleet = await openFleet(t);
    const a = await fleet.start('a', ['one', 'two']);
    const b = await fleet.start('b', ['three']);
    for (const name of ['one', 'two', 'three']) {
      writeFileSync(join(fleet.root, name, 'which.txt'), name);
      // A host that has begun holds its workspaces soon after; this waits for it.
      await (await fleet.client(name)).close();
    }
    const read = async (host: RunningHost, token: string, query: string): Promise<string> => {
      const client = await overMcp(t, host, token, query);
      return JSON.stringify(await client.callTool({ name: 'file_read', arguments: { path: 'which.txt' } }));
    };
    assert.match(await read(a, TOKENS.a, ''), /one/);
    assert.match(await read(a, TOKENS.a, '?workspace=two'), /two/);
    assert.match(await read(a, TOKENS.a, '?workspace=three'), /three/);
    assert.match(await read(b, TOKENS.b, '?workspace=two'), /two/);
    // A token of one host is not valid at another host, and not through it either.
    assert.equal((await ask(b, TOKENS.a, '/mcp?workspace=one', {})).status, 401);
    const nowhere = await ask(a, TOKENS.a, '/mcp?workspace=four', { jsonrpc: '2.0', id: 1, method: 'ping' });
    assert.deepEqual(
      [nowhere.status, (nowhere.json as { details: object }).details],
      [
        503,
        {
          ...(nowhere.json as { details: object }).details,
          reason: 'no_host',
        },
      ],
    );
  });

  test('a question of one host is listed and answered at another, and one answer wins', async (t) => {
    const fleet = await openFleet(t);
    await fleet.start('a', ['one'], {}, 'version: 1\napprovals: { auto_approve: [] }\n');
    const b = await fleet.start('b', ['two']);
    const client = await fleet.client('one');
    const writing = client.call('file_write', { path: 'x.txt', content: 'x' });
    let asked: PendingApproval | undefined;
    while (asked === undefined) {
      const { json } = await ask(b, TOKENS.b, '/v1/approvals');
      [asked] = (json as { approvals: PendingApproval[] }).approvals;
    }
    assert.equal(asked.tool, 'file_write');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(b, TOKENS.b, `/v1/approvals/${asked.approval_id}`, { answer: 'approved' })),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409]);
    assert.equal((await writing).ok, true);
    assert.equal((await ask(b, TOKENS.b, '/v1/approvals/unknown', { answer: 'approved' })).status, 404);
    await client.close();
  });

  test('a workspace with as many calls as it takes says busy, with a time to wait; another is not affected', async (t) => {
    const fleet = await openFleet(t);
    await fleet.start('a', ['one', 'two'], { limits: { calls: 3 } });
    const [one, two] = await Promise.all([fleet.client('one'), fleet.client('two')]);
    let refusals = 0;
    const fiveRefused = Promise.withResolvers<void>();
    const held = Array.from({ length: 8 }, () =>
      one.call('shell_exec', { cmd: 'until [ -e go ]; do sleep 0.1; done', timeout_ms: 600_000 }),
    );
    for (const call of held)
      call.catch(() => {
        refusals += 1;
        if (refusals === 5) fiveRefused.resolve();
      });
    await fiveRefused.promise;
    const other = await two.call('fs_list', { path: '.' });
    writeFileSync(join(fleet.root, 'one', 'go'), '');
    const answers = await Promise.allSettled(held);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    const said = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    assert.deepEqual([said.length, refused.length], [3, 5]);
    for (const error of refused) {
      assert.deepEqual([error.details.reason, typeof error.details.retry_after_ms], ['busy', 'number']);
    }
    assert.equal(other.ok, true);
    const again = await one.call('fs_list', { path: '.' });
    assert.equal(again.ok, true);
    await Promise.all([one.close(), two.close()]);
  });

  test('an output that one host kept is read at the next, and the budget of a day holds for both', async (t) => {
    const fleet = await openFleet(t);
    const first = await fleet.start('a', ['one'], { budget: { calls_per_day: 6 } });
    writeFileSync(join(fleet.root, 'one', 'long.txt'), 'line of text\n'.repeat(20_000));
    const client = await fleet.client('one');
    const made = await client.call('shell_exec', { cmd: 'cat long.txt' });
    assert.equal(made.ok, true, JSON.stringify(made).slice(0, 500));
    const handle = /artifact:[0-9a-f]{32}/.exec(JSON.stringify(made.data))?.[0];
    assert.ok(handle !== undefined, JSON.stringify(made).slice(0, 500));
    const second = await fleet.start('b', ['one'], { budget: { calls_per_day: 6 } });
    await first.stop();
    const read = await client.call('artifact_read', { artifact: handle, tail_lines: 1 });
    assert.equal((read.data as { content: string } | null)?.content.trim(), 'line of text', JSON.stringify(read));
    const later: (string | true)[] = [];
    for (let at = 0; at < 6; at++) {
      const answer = await client.call('fs_list', { path: '.' });
      later.push(answer.ok || String(answer.errors[0]?.details?.['reason']));
    }
    assert.deepEqual(later, [true, true, true, true, 'budget_spent', 'budget_spent']);
    await client.close();
    await second.stop();
  });
});
