/**
 * The files operators start from: units, servers' configuration, compose file and alerts, checked by the programs that
 * read them.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { fleetMetrics } from '../src/operate/fleet-metrics.ts';

const DEPLOY = path.join(import.meta.dirname, '../../../examples/deploy/fleet');
const read = (name: string): string => readFileSync(path.join(DEPLOY, name), 'utf8');

describe('files for operators', () => {
  test('systemd accepts the units, and would not accept a wrong one', (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fleet-units-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const units = readdirSync(DEPLOY).filter((name) => name.endsWith('.service'));
    assert.equal(units.length, 3);
    const verify = (name: string, text: string): string => {
      const file = path.join(folder, name);
      // The programs are not installed here, and the check wants to see them.
      writeFileSync(file, text.replaceAll(/\/usr\/local\/bin\/[\w-]+/g, '/bin/true'));
      return spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' }).stderr;
    };
    for (const name of units) assert.equal(verify(name, read(name)), '', name);
    assert.notEqual(verify('wrong.service', read('nats-server.service').replace('Type=exec', 'Tipe=exec')), '');
  });

  test('promtool accepts the alerts and their tests, and every metric in them is printed', () => {
    execFileSync('promtool', ['check', 'rules', path.join(DEPLOY, 'alerts.yml')], { stdio: 'pipe' });
    execFileSync('promtool', ['test', 'rules', path.join(DEPLOY, 'alerts.test.yml')], { stdio: 'pipe' });
    const stream = { name: 'JOURNAL', leader: 'n1', replicas: 3, behind: [], messages: 0, bytes: 0 };
    const host = {
      host: 'a',
      zone: 'z',
      boot: 'b',
      pid: 1,
      version: '0',
      workspaces: [],
      held: [],
      journals: [],
      at_ms: 0,
    };
    const printed = fleetMetrics({ servers: [], streams: [stream], hosts: [host], workspaces: [], unread: [] }, [], 0);
    const silent = { ...stream, leader: undefined, messages: undefined, bytes: undefined };
    const unknown = { servers: [], streams: [silent], hosts: [], workspaces: [], unread: ['KV_HOSTS', 'KV_LEASES'] };
    const without = fleetMetrics(unknown, undefined, 0);
    assert.match(without, /^tool_runtime_fleet_stream_has_leader\{stream="JOURNAL"\} 0$/m);
    assert.doesNotMatch(without, /fleet_(?:hosts|workspaces_held|calls_\w+|stream_bytes)[ {]/);
    execFileSync('promtool', ['check', 'metrics'], { input: printed, stdio: ['pipe', 'pipe', 'pipe'] });
    for (const [name] of read('alerts.yml').matchAll(/tool_runtime_fleet_\w+/g)) {
      assert.match(printed, new RegExp(`^${name}[ {]`, 'm'), name);
    }
  });

  test('the compose file starts three servers that end as lame ducks, with a configuration that the server accepts', (t) => {
    const { services } = parse(read('compose.yaml')) as { services: Record<string, { stop_signal: string }> };
    assert.deepEqual(Object.keys(services), ['n1', 'n2', 'n3']);
    assert.ok(Object.values(services).every(({ stop_signal }) => stop_signal === 'SIGUSR2'));
    const cache = process.env['XDG_CACHE_HOME'] || path.join(process.env['HOME'] ?? '', '.cache');
    const server = path.join(cache, 'tool-runtime/nats-server/nats-server');
    const folder = mkdtempSync(path.join(tmpdir(), 'fleet-conf-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const check = (text: string): void => {
      const file = path.join(folder, 'nats-server.conf');
      writeFileSync(file, text.replace('/var/lib/nats', folder));
      execFileSync(server, ['-t', '-c', file], { stdio: 'pipe' });
    };
    check(read('nats-server.conf'));
    assert.throws(() => check(read('nats-server.conf').replace('sync_interval: always', 'sync_interval: sometimes')));
  });
});
