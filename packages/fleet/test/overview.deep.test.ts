/** What operators see while servers are missing: real servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetMetrics } from '../src/operate/fleet-metrics.ts';
import { fleetStatus, listHosts, openCallsNow, withWire } from '../src/operate/overview.ts';
import { startFleet } from './fixtures.ts';

test('an operator sees what is missing also when most servers are, and all of it when they are back', async (t) => {
  const fleet = await startFleet(t, { count: 3 });
  const member = await fleet.join(fleet.file('a'));
  // What hosts may ask is less, and shows the same.
  const told = await member.state();
  assert.deepEqual([told.host, told.servers.length, told.unread], ['a', 3, []]);
  assert.deepEqual(
    told.hosts.map(({ host, zone, workspaces }) => ({ host, zone, workspaces })),
    [{ host: 'a', zone: 'default', workspaces: ['shop'] }],
  );
  assert.ok(told.streams.every(({ leader, replicas }) => leader !== undefined && replicas === 3));
  const file = fleet.file('operator');
  const look = () =>
    withWire(file, async (wire) => {
      const [status, open] = await Promise.all([fleetStatus(wire, file), openCallsNow(wire)]);
      return { status, open };
    });
  const whole = await look();
  assert.deepEqual([whole.status.servers.length, whole.status.unread, whole.open], [3, [], []]);
  assert.deepEqual(
    whole.status.hosts.map(({ host }) => host),
    ['a'],
  );
  const killed = fleet.servers.servers.slice(1);
  for (const server of killed) {
    server.kill('SIGKILL');
    await server.ended();
  }
  const { status } = await look();
  assert.equal(status.servers.length, 1);
  assert.equal(status.streams.length, whole.status.streams.length);
  // A leader of a stream that is not written to notices late.
  assert.ok(status.streams.some(({ leader, behind }) => leader === undefined || behind.length > 0));
  assert.match(fleetMetrics(status, undefined, 0), /tool_runtime_fleet_servers 1/);
  const during = await member.state();
  assert.equal(during.servers.length, 1);
  assert.ok(during.streams.some(({ leader, behind }) => leader === undefined || behind.length > 0));
  for (const server of killed) await server.start();
  for (;;) {
    const again = await look();
    if (again.status.unread.length === 0 && again.status.hosts.length === 1) break;
  }
});

test('a user that is no operator is told so at once', async (t) => {
  const fleet = await startFleet(t);
  await fleet.join(fleet.file('a'));
  for (const user of ['agent', 'a']) {
    const file = fleet.file(user);
    await assert.rejects(withWire(file, listHosts), { code: 'E_POLICY' });
  }
  await assert.rejects(
    withWire(fleet.file('agent'), (wire) => fleetStatus(wire, fleet.file('agent'))),
    { code: 'E_POLICY' },
  );
  assert.equal((await withWire(fleet.file('operator'), listHosts)).length, 1);
});
