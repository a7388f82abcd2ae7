/** Faults of servers, network and clocks under load. Each fault is shown to have happened; the oracle is in `workload.ts`. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FleetBudget } from '../src/ledger/fleet-budget.ts';
import { drainHost } from '../src/operate/overview.ts';
import { STREAMS } from '../src/wire/names.ts';
import { openWire, type Wire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { openFaultyLink } from './faulty-link.ts';
import { startFleet, startHostProcess, type TestFleet } from './fixtures.ts';
import { leaderOf, whole } from './killer.ts';
import { startWork, type Workload } from './workload.ts';

const ROUNDS = Number(process.env['FLEET_FAULT_ROUNDS'] ?? 1);

async function openWith(
  t: TestContext,
  count: 1 | 3,
  leaseMs: number,
): Promise<{ fleet: TestFleet; wire: Wire; operator: Wire }> {
  const fleet = await startFleet(t, { count, leaseMs });
  const wire = await openWire(fleet.file('a'), 'host');
  t.after(() => wire.close());
  const operator = await openWire(fleet.file('operator'), 'operator');
  t.after(() => operator.close());
  await ensureStreams(wire, fleet.file('a'));
  await whole(wire);
  return { fleet, wire, operator };
}

async function leaderNow(wire: Wire): Promise<string> {
  for (;;) {
    const leader = await leaderOf(wire, STREAMS.journal);
    if (leader !== undefined) return leader;
  }
}

describe('faults of servers', () => {
  test('the leader is killed and frozen, a replica loses its disk, and all restart in turn', async (t) => {
    const { fleet, wire, operator } = await openWith(t, 3, 15_000);
    const work: Workload = await startWork([fleet.file('a'), fleet.file('b')], fleet.folder);
    const server = (name: string) => {
      const found = fleet.servers.servers.find((one) => one.name === name);
      assert.ok(found !== undefined);
      return found;
    };
    const restart = async (name: string, signal: NodeJS.Signals): Promise<void> => {
      const before = server(name).pid;
      server(name).kill(signal);
      await server(name).ended();
      assert.equal(server(name).pid, undefined);
      await server(name).start();
      assert.notEqual(server(name).pid, before);
      await whole(wire);
    };
    for (let round = 0; round < ROUNDS; round++) {
      await work.progress(50);
      await restart(await leaderNow(wire), 'SIGKILL');
      await work.progress(50);

      const frozen = await leaderNow(wire);
      server(frozen).kill('SIGSTOP');
      let next = frozen;
      while (next === frozen) next = await leaderNow(wire);
      server(frozen).kill('SIGCONT');
      await whole(wire);
      await work.progress(50);

      const [victim = ''] = fleet.servers.servers.map(({ name }) => name).filter((name) => name !== next);
      const store = path.join(fleet.folder, 'servers', victim);
      server(victim).kill('SIGKILL');
      await server(victim).ended();
      rmSync(store, { recursive: true });
      assert.equal(existsSync(store), false);
      await work.progress(20);
      await server(victim).start();
      await whole(wire);
      await work.progress(50);

      // The first as its unit stops it: its clients go to the others before it ends.
      for (const [at, { name }] of fleet.servers.servers.entries())
        await restart(name, at === 0 ? 'SIGUSR2' : 'SIGTERM');
      await work.progress(50);
    }
    t.diagnostic(`${await work.check(operator)} calls acknowledged`);
  });
});

describe('faults of the network of one host', () => {
  test('200 ms and 5 % loss, a cut, and a cut in one direction', async (t) => {
    const { fleet, operator } = await openWith(t, 1, 3000);
    const link = await openFaultyLink(fleet.servers.servers[0]?.port ?? 0);
    t.after(() => link.close());
    const far = fleet.file('a', { servers: [`nats://127.0.0.1:${link.port}`] });
    const probe = await openWire(far, 'probe');
    t.after(() => probe.close());
    const work = await startWork([far, fleet.file('b')], fleet.folder);
    const [a, b] = work.members;
    assert.ok(a !== undefined && b !== undefined);
    const heldBy = async (one: typeof a): Promise<void> => {
      while (!one.holds('shop')) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    for (let round = 0; round < ROUNDS; round++) {
      await work.progress(20);
      link.delay(100, 0.05);
      // Two timers of 100 ms, each of which may fire a little early.
      assert.ok((await probe.nc.rtt()) >= 190);
      await work.progress(10);
      link.delay(0);
      for (const direction of ['both', 'to-host'] as const) {
        // The workspace is with the host behind the link, so that the cut takes it away.
        await b.drain();
        await heldBy(a);
        const { held } = link.figures;
        link.cut(direction);
        await drainHost(operator, 'b', true);
        await heldBy(b);
        assert.equal(a.holds('shop'), false, 'two hosts hold the workspace');
        assert.ok(link.figures.held > held, 'nothing was cut');
        await work.progress(20);
        link.cut('none');
      }
    }
    t.diagnostic(`${await work.check(operator)} calls acknowledged`);
  });
});

describe('faults of hosts', () => {
  test('a budget of many takers is not exceeded when hosts die with their shares', async (t) => {
    const { fleet, wire } = await openWith(t, 1, 3000);
    const calls = 60;
    const open = (): FleetBudget => new FleetBudget({ wire, nameNow: () => 'day', calls, share: 7 });
    let taken = 0;
    const take = async (budget: FleetBudget): Promise<boolean> => {
      try {
        await budget.reserve();
        taken += 1;
        return true;
      } catch {
        return false;
      }
    };
    // Each of these dies: it takes a share, uses two calls of it, and gives nothing back.
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const budget = open();
        await take(budget);
        await take(budget);
      }),
    );
    assert.equal(taken, 8);
    const survivors = Array.from({ length: 5 }, open);
    await Promise.all(
      survivors.map(async (budget) => {
        while (await take(budget));
      }),
    );
    assert.equal(taken, calls - 4 * 5);
    assert.equal(fleet.servers.servers.length, 1);
  });

  test('hosts whose clocks are an hour ahead and an hour behind keep order, keys and leases', async (t) => {
    const { fleet } = await openWith(t, 1, 3000);
    const workspace = path.join(fleet.folder, 'shop');
    mkdirSync(workspace);
    const start = (name: 'a' | 'b', shiftMs: number) =>
      startHostProcess(t, name, {
        workspace,
        file: fleet.write(name),
        state: path.join(fleet.folder, `state-${name}`),
        shiftMs,
      });
    const a = start('a', 3_600_000);
    await a.logged('workspace_held');
    const b = start('b', -3_600_000);
    const client = await fleet.client();
    const write = (key: string) =>
      client.call('file_write', { path: 'log', content: `${key}\n`, append: true }, { idempotencyKey: key });
    assert.equal((await write('one')).ok, true);
    a.process.kill('SIGKILL');
    await b.logged('workspace_held');
    const again = await write('one');
    assert.equal(again.ok, true, JSON.stringify(again));
    assert.equal((await write('two')).ok, true);
    assert.equal(readFileSync(path.join(workspace, 'log'), 'utf8'), 'one\ntwo\n');
    const said = (log: readonly string[]): number => Date.parse(/"ts":"([^"]+)"/.exec(log[0] ?? '')?.[1] ?? '');
    assert.ok(Math.abs(said(a.log) - said(b.log) - 7_200_000) < 600_000, `${a.log[0]} ${b.log[0]}`);
    await client.close();
  });
});
