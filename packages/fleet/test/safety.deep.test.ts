/** What a fleet refuses: unsafe servers, users outside of their subjects, hosts that were revoked. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { joinFleet } from '../src/join-fleet.ts';
import { startDevServers } from '../src/operate/dev-servers.ts';
import { checkFleet } from '../src/wire/fleet-file.ts';
import { connectTo, openWire } from '../src/wire/open-wire.ts';
import { startFleet, startHostProcess, USERS } from './fixtures.ts';

const QUIET = { workspaces: ['shop'], version: '0', log() {} };

describe('what a fleet refuses', () => {
  test('servers that acknowledge before they sync, with the line to change; others are joined', async (t) => {
    const unsafe = await startFleet(t, { sync: '"2m"' });
    await assert.rejects(
      joinFleet(unsafe.file('a'), QUIET),
      (error) =>
        isToolError(error) &&
        error.details['reason'] === 'unsafe_fleet' &&
        String(error.details['next']).endsWith('sync_interval: always'),
    );
    const safe = await startFleet(t);
    const member = await joinFleet(safe.file('a'), QUIET);
    await member.close();
    await assert.rejects(
      joinFleet(safe.file('a', { replicas: 3 }), QUIET),
      (error) => isToolError(error) && /has 1 replicas/.test(error.message),
    );
    await assert.rejects(
      joinFleet({ ...safe.file('a'), system: undefined }, QUIET),
      (error) => isToolError(error) && /system account/.test(error.message),
    );
  });

  test('a client outside of its subjects', async (t) => {
    const fleet = await startFleet(t);
    const workspace = path.join(fleet.folder, 'shop');
    mkdirSync(workspace);
    startHostProcess(t, 'a', { workspace, file: fleet.write('a'), state: path.join(fleet.folder, 'state-a') });
    await (await fleet.client()).close();
    // A user of another workspace gets no answer from this one, and a wrong password none at all.
    await assert.rejects(
      fleet.client({ credentials: { user: 'other', password: 'of-other' }, waitMs: 0, reconnect: { attempts: 1 } }),
      isToolError,
    );
    const nc = await connectTo(fleet.file('agent'), { user: 'agent', password: 'of-agent' }, 'test');
    t.after(() => nc.close());
    const refused = new Promise<string>((resolve) => {
      void (async () => {
        for await (const status of nc.status()) if (status.type === 'error') resolve(String(status.error));
      })();
    });
    nc.publish('j.main.shop.forged', '{}');
    assert.match(await refused, /[Pp]ermissions [Vv]iolation/);
    const listening = nc.subscribe('_INBOX.a.>');
    await assert.rejects(
      (async () => {
        for await (const _ of listening);
      })(),
      /[Pp]ermissions [Vv]iolation/,
    );
  });

  test('a revoked host: it is cut off in the middle of a call, and changes nothing any more', async (t) => {
    const fleet = await startFleet(t);
    const workspace = path.join(fleet.folder, 'shop');
    mkdirSync(workspace);
    const registry = path.join(fleet.folder, 'registry.yaml');
    writeFileSync(registry, 'version: 1\nshell: { mode: sandboxed }\n');
    const host = (name: 'a' | 'b') =>
      startHostProcess(t, name, { workspace, file: fleet.write(name), state: path.join(fleet.folder, name), registry });
    const a = host('a');
    await a.logged('workspace_held');
    const b = host('b');
    const client = await fleet.client();
    assert.equal((await client.call('file_write', { path: 'x', content: '1' }, { idempotencyKey: 'one' })).ok, true);
    const running = client.call('shell_exec', { cmd: 'touch began; sleep 600', timeout_ms: 600_000 });
    while (!existsSync(path.join(workspace, 'began'))) await new Promise((wake) => setTimeout(wake, 10));
    const [server] = fleet.servers.servers;
    const config = path.join(fleet.folder, 'servers', 'n1.conf');
    const text = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      text
        .split('\n')
        .filter((line) => !line.includes('"of-a"'))
        .join('\n'),
    );
    server?.kill('SIGHUP');
    await a.logged('workspace_released');
    await b.logged('workspace_held');
    const cut = await running;
    assert.equal(cut.errors[0]?.details?.['reason'], 'outcome_unknown', JSON.stringify(cut));
    const after = await client.call('file_write', { path: 'x', content: '2' }, { idempotencyKey: 'two' });
    assert.equal(after.ok, true, JSON.stringify(after));
    assert.equal(readFileSync(path.join(workspace, 'x'), 'utf8'), '2');
    await client.close();
  });

  test('a server whose certificate is from another authority; the right one is accepted', async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'fleet-tls-'));
    const at = (name: string): string => path.join(folder, name);
    const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' });
    for (const ca of ['ca', 'wrong']) {
      openssl(
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${ca}`,
        '-keyout',
        at(`${ca}.key`),
        '-out',
        at(`${ca}.pem`),
      );
    }
    writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost');
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=n1', '-keyout', at('n1.key'), '-out', at('n1.csr'));
    openssl(
      'x509',
      '-req',
      '-in',
      at('n1.csr'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-days',
      '2',
      '-extfile',
      at('names'),
      '-out',
      at('n1.pem'),
    );
    const servers = await startDevServers({
      folder: at('tls'),
      count: 1,
      tenant: 'main',
      users: USERS,
      tls: { cert: at('n1.pem'), key: at('n1.key'), ca: at('ca.pem') },
    });
    t.after(async () => {
      await servers.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const file = (ca: string) =>
      checkFleet({
        servers: servers.addresses.map((address) => address.replace('nats:', 'tls:')),
        credentials: { user: 'a', password: 'of-a' },
        system: { user: 'status', password: 'of-status' },
        tls: { ca_file: at(ca) },
        host: 'a',
        replicas: 1,
      });
    const wire = await openWire(file('ca.pem'), 'test');
    assert.equal(wire.nc.info?.tls_required, true);
    await wire.close();
    await assert.rejects(
      openWire(file('wrong.pem'), 'test'),
      (error) => isToolError(error) && error.details['reason'] === 'fleet_unreachable',
    );
  });
});
