/** The users of the example configuration, at a real server: each does its work, and is refused what belongs to another. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { allowLists } from '../src/operate/server-config.ts';
import { connectTo } from '../src/wire/open-wire.ts';
import { startFleet, type TestFleet } from './fixtures.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../../examples/deploy/fleet/nats-server.conf');
const example = readFileSync(EXAMPLE, 'utf8');
const KINDS = { a: 'host', b: 'host', agent: 'client', operator: 'operator', status: 'system' } as const;
type User = keyof typeof KINDS;
const password = 'change-me';

/** A server with the accounts of the example. */
async function startExample(t: TestContext): Promise<TestFleet> {
  const fleet = await startFleet(t);
  const [server] = fleet.servers.servers;
  assert.ok(server !== undefined);
  const config = path.join(fleet.folder, 'servers/n1.conf');
  const own = readFileSync(config, 'utf8');
  server.kill('SIGTERM');
  await server.ended();
  writeFileSync(config, own.slice(0, own.indexOf('accounts {')) + example.slice(example.indexOf('accounts {')));
  await server.start();
  return fleet;
}

interface Attempts {
  readonly says?: readonly string[];
  readonly hears?: readonly string[];
}

/** The subjects that the server refused. */
async function refusedOf(nc: NatsConnection, { says = [], hears = [] }: Attempts): Promise<readonly string[]> {
  const refused: string[] = [];
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'error' && status.error instanceof errors.PermissionViolationError)
        refused.push(status.error.subject);
    }
  })();
  for (const subject of says) nc.publish(subject, '{}');
  for (const subject of hears) nc.subscribe(subject, { callback() {} });
  // The server answers in order, and errors are told a turn later.
  await nc.flush();
  await turn();
  return refused;
}

interface Case {
  readonly user: User;
  readonly own: Attempts;
  readonly beyond: Attempts;
}

const CASES: readonly Case[] = [
  {
    user: 'b',
    own: {
      says: ['r.main.b.shop.x', '$KV.HOSTS.b', 'trt.main.gw.shop.b.x', 'apr.main.gw.b', '$JS.API.STREAM.INFO.JOURNAL'],
      hears: ['_INBOX.b.x', 'ctl.main.b.drain', 'trt.main.ws.shop.>'],
    },
    beyond: {
      says: [
        // As another host or as a client.
        ...['r.main.a.shop.x', '$KV.HOSTS.a', 'trt.main.gw.shop.a.x', 'apr.main.gw.a', 'trt.main.ws.shop.agent.x'],
        // Over another host, over the streams, and in another tenant.
        ...['ctl.main.a.drain', '$JS.API.STREAM.DELETE.JOURNAL', '$JS.API.STREAM.UPDATE.JOURNAL'],
        ...['$JS.API.STREAM.PURGE.RECORDS', '$JS.API.STREAM.CREATE.SPY', '$JS.API.STREAM.MSG.DELETE.JOURNAL'],
        ...['j.other.shop.x', '$KV.BUDGETS.other.x'],
      ],
      hears: ['_INBOX.agent.>', '_INBOX.a.>', '_INBOX.>', 'ctl.main.a.>', 'j.main.>', '>'],
    },
  },
  {
    user: 'agent',
    own: { says: ['trt.main.ws.shop.agent.x'], hears: ['_INBOX.agent.x'] },
    beyond: {
      says: [
        ...['trt.main.ws.other.agent.x', 'trt.main.ws.shop.b.x', 'trt.main.gw.shop.agent.x', 'apr.main.user.agent'],
        ...['j.main.shop.x', 'r.main.agent.shop.x', '$KV.LEASES.ws.shop', '$KV.HOSTS.agent', '_INBOX.a.x'],
        ...['$JS.API.STREAM.INFO.JOURNAL', '$JS.API.STREAM.MSG.GET.JOURNAL', 'ctl.main.a.drain'],
      ],
      hears: ['_INBOX.a.>', 'trt.main.ws.shop.>', 'r.main.>', '>'],
    },
  },
  {
    user: 'operator',
    own: {
      says: ['$JS.API.STREAM.INFO.RECORDS', '$JS.API.CONSUMER.CREATE.RECORDS.x', '$JS.ACK.x', 'ctl.main.a.drain'],
      hears: ['_INBOX.operator.x'],
    },
    beyond: {
      says: [
        ...[
          'j.main.shop.x',
          'r.main.a.shop.x',
          '$KV.LEASES.ws.shop',
          '$KV.HOSTS.a',
          '$KV.BUDGETS.main.x',
          '_INBOX.a.x',
        ],
        ...['trt.main.ws.shop.agent.x', 'trt.main.gw.shop.operator.x', 'apr.main.user.operator', 'free.main.shop'],
        ...['$O.artifacts.C.x', 'ctl.other.a.drain', '$SYS.REQ.SERVER.PING.VARZ'],
      ],
      hears: ['_INBOX.a.>', '_INBOX.>', 'trt.main.ws.>', 'r.main.>', 'j.main.>', '>'],
    },
  },
  {
    user: 'status',
    own: { says: ['$SYS.REQ.SERVER.PING.VARZ'], hears: ['_INBOX.status.x'] },
    beyond: { says: ['$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.SERVER.x.RELOAD'], hears: ['$SYS.>'] },
  },
];

describe('the users of the example configuration', () => {
  test('have the permissions of their kind, and no others', () => {
    for (const [user, kind] of Object.entries(KINDS)) {
      const block = example.slice(example.indexOf(`{ user: "${user}"`));
      const lists = [...block.matchAll(/allow: \[([^\]]*)\]/g)].map(([, list = '']) =>
        [...list.matchAll(/"([^"]*)"/g)].map(([, subject]) => subject),
      );
      const workspaces = kind === 'client' ? { workspaces: ['shop'] } : {};
      const { publish, subscribe } = allowLists({ user, kind, ...workspaces }, 'main');
      assert.deepEqual(lists.slice(0, 2), [publish, subscribe], user);
    }
    assert.doesNotMatch(example, /publish: \{ (?!allow)|subscribe: \{ (?!allow)/);
  });

  for (const { user, own, beyond } of CASES) {
    test(`${user} is refused what is not its own, and not what is`, async (t) => {
      const fleet = await startExample(t);
      const nc = await connectTo(fleet.file(user), { user, password }, 'test');
      t.after(() => nc.close());
      assert.deepEqual(await refusedOf(nc, own), []);
      const wanted = [...(beyond.says ?? []), ...(beyond.hears ?? [])];
      assert.deepEqual((await refusedOf(nc, beyond)).toSorted(), wanted.toSorted());
    });
  }

  test('are all that hosts and a client need for a call', async (t) => {
    const fleet = await startExample(t);
    const credentials = (user: User) => ({ user, password });
    const file = fleet.file('a', { credentials: credentials('a'), system: credentials('status') });
    const held = Promise.withResolvers<void>();
    const member = await fleet.join(file, (event) => void (event === 'workspace_held' && held.resolve()));
    await held.promise;
    const reached = Promise.withResolvers<string>();
    await member.serve((socket, caller) => {
      reached.resolve(caller.user);
      socket.destroy();
    });
    const asking = fleet.client({ credentials: credentials('agent'), waitMs: 30_000, reconnect: { attempts: 1 } });
    asking.catch(() => undefined);
    assert.equal(await reached.promise, 'agent');
    const call = { scope: 's', key: 'k', tool: 'file_write', args: { path: 'a' } };
    const claim = await member.ledgerOf('shop').begin({ ...call, callId: 'c', sessionId: 's', retrySafe: false });
    assert.ok(claim.state === 'claimed');
    // More than a message holds, so it goes to the object store.
    const answer = { data: 'x'.repeat(700_000) };
    assert.equal(await claim.finish(answer), true);
    assert.deepEqual(await member.ledgerOf('shop').lookup(call), { state: 'done', callId: 'c', answer });
  });
});
