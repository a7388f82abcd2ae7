/** A host in a fleet of one, for tests: what a caller sends arrives as it would through a tunnel. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { FleetState } from '@tool-runtime/protocol';
import { REGISTRY_FILE } from '@tool-runtime/sdk';
import { createMemoryLedger } from '@tool-runtime/sdk/testing';
import type { FleetCaller, HostFleet } from '../src/fleet/host-fleet.ts';
import type { ChildCarrier } from '../src/sessions/child-work.ts';
import { startHost } from '../src/start-host.ts';

/** What the fleet of such a host says of itself. */
const STATE: FleetState = {
  host: 'a',
  servers: [
    { name: 'n1', version: '2.15.1', address: '127.0.0.1:4222', pid: 7, sync_always: true },
    { name: 'n2', version: '2.15.1', address: 'n2:4222', sync_always: false },
  ],
  streams: [
    { name: 'JOURNAL', leader: 'n1', replicas: 3, behind: ['n3'], messages: 12 },
    { name: 'RECORDS', replicas: 3, behind: [] },
  ],
  hosts: [
    { host: 'a', zone: 'z1', version: '0.1.0', pid: 8, workspaces: ['one', 'two'], held: ['one'], unshipped: 3 },
    { host: '<b>', zone: 'z2', version: '0.1.0', pid: 9, workspaces: ['two'], held: [], unshipped: 0 },
  ],
  unread: ['KV_HOSTS'],
};

interface How {
  readonly headers?: object;
  /** Takes the connection away. */
  readonly signal?: AbortSignal;
}

export async function openMember(
  t: Pick<TestContext, 'after'>,
  registries: Readonly<Record<string, string>> = {},
  names = ['one', 'two'],
) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleet-entrance-')));
  const folders = names.map((name) => join(root, name));
  for (const folder of folders) mkdirSync(folder);
  for (const [name, text] of Object.entries(registries)) writeFileSync(join(root, name, REGISTRY_FILE), text);
  const packages: string[] = [];
  /** What a test puts in place of what this fleet does for children. */
  const carrier: ChildCarrier = {};
  const ledger = createMemoryLedger();
  ledger.moveTo('a');
  let accept: (socket: Duplex, caller: FleetCaller) => void = () => assert.fail('not served yet');
  const fleet: HostFleet = {
    nameOf: (folder) => basename(folder),
    ledgerOf: () => ledger.of('a'),
    serve: async (take) => {
      accept = take;
    },
    ship() {},
    async putPackage(text) {
      packages.push(text);
      return (await carrier.putPackage?.(text)) ?? `${packages.length - 1}`;
    },
    takeChild: (child) => carrier.takeChild?.(child) ?? assert.fail('there is no other host'),
    state: async () => STATE,
    drain: async () => {},
    close: async () => {},
  };
  const running = await startHost({
    workspaces: folders,
    state: join(root, 'state'),
    http: { hostname: '127.0.0.1', port: 0 },
    fleet,
  });
  t.after(async () => {
    await running.stop({ now: true });
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    running,
    /** Packages of children, by name. */
    packages,
    carrier,
    send,
    async ask(...asked: Parameters<typeof send>) {
      const answer = await send(...asked);
      const said = await text(answer);
      return { status: answer.statusCode, body: said === '' ? undefined : JSON.parse(said) };
    },
  };

  async function send(caller: FleetCaller, method: string, path: string, body?: object, how: How = {}) {
    const { signal, headers = {} } = how;
    const [client, host] = duplexPair();
    accept(host, caller);
    const asked = request({
      createConnection: () => client,
      ...(signal === undefined ? {} : { signal }),
      method,
      path,
      headers: {
        host: 'localhost',
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    return new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve);
      asked.once('error', reject);
    });
  }
}
