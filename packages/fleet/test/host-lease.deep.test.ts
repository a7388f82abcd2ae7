/** One lease for all workspaces of a host, at a real server. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { HostLease } from '../src/ledger/host-lease.ts';
import { WorkspaceLease } from '../src/ledger/workspace-lease.ts';
import { readLast } from '../src/wire/compare-and-append.ts';
import { hostLeaseSubject, leaseSubject, STREAMS } from '../src/wire/names.ts';
import { openWire, type Wire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet, type TestFleet } from './fixtures.ts';

const NAMES = Array.from({ length: 50 }, (_, at) => `w${at}`);

async function openFleet(t: TestContext): Promise<TestFleet> {
  const fleet = await startFleet(t, { leaseMs: 2000 });
  const wire = await openWire(fleet.file('a'), 'test');
  await ensureStreams(wire, fleet.file('a'));
  await wire.close();
  return fleet;
}

/** A host that serves all of the workspaces. */
async function openHost(t: TestContext, fleet: TestFleet, host: 'a' | 'b') {
  const wire = await openWire(fleet.file(host), host);
  const lease = new HostLease({ wire, host, leaseMs: fleet.file(host).lease_ms });
  const counts = { held: 0, lost: 0 };
  const full = Promise.withResolvers<void>();
  const all = NAMES.map(
    (workspace) =>
      new WorkspaceLease({
        wire,
        workspace,
        host,
        zone: 'z',
        lease,
        onHeld() {
          counts.held += 1;
          if (counts.held === NAMES.length) full.resolve();
        },
        onLost() {
          counts.lost += 1;
        },
      }),
  );
  await lease.start();
  await Promise.all(all.map((one) => one.start()));
  const close = async (): Promise<void> => {
    await lease.close();
    await Promise.all(all.map((one) => one.ended()));
    await wire.close();
  };
  t.after(() => wire.close());
  return { wire, lease, all, counts, full: full.promise, close };
}

async function seqOf(wire: Wire, subject: string): Promise<number> {
  return (await readLast(wire, STREAMS.leases, subject)).message?.seq ?? 0;
}

describe('the lease of a host', () => {
  test('keeps all of its workspaces for longer than it lasts, and nothing but it is written', async (t) => {
    const fleet = await openFleet(t);
    const { wire, lease, all, counts, full, close } = await openHost(t, fleet, 'a');
    await full;
    const tokens = all.map(({ token }) => token);
    const own = hostLeaseSubject(lease.id ?? '');
    let seen = await seqOf(wire, own);
    // Twice the time that the servers give it.
    for (let renewals = 0; renewals < 12; ) {
      await later(20);
      const seq = await seqOf(wire, own);
      if (seq !== seen) renewals += 1;
      seen = seq;
      assert.notEqual(seq, 0, 'the lease ended');
    }
    assert.deepEqual([counts.lost, all.map(({ token }) => token)], [0, tokens]);
    assert.deepEqual(await Promise.all(NAMES.map((name) => seqOf(wire, leaseSubject(name)))), tokens);
    await close();
  });

  test('that is not renewed any more ends for its host first, and another host takes everything', async (t) => {
    const fleet = await openFleet(t);
    const a = await openHost(t, fleet, 'a');
    await a.full;
    const b = await openHost(t, fleet, 'b');
    assert.deepEqual([await b.lease.isClosed(a.lease.id ?? ''), b.counts.held], [false, 0]);
    const before = a.all.map(({ token = 0 }) => token);
    await a.wire.close();
    await b.full;
    assert.deepEqual([a.lease.id, a.all.filter(({ token }) => token !== undefined)], [undefined, []]);
    for (const [at, one] of b.all.entries()) assert.ok((one.token ?? 0) > (before[at] ?? 0));
    await b.close();
  });

  test('that its host closes frees everything at once, and a closed one is not renewed', async (t) => {
    const fleet = await openFleet(t);
    const a = await openHost(t, fleet, 'a');
    await a.full;
    const id = a.lease.id ?? '';
    const b = await openHost(t, fleet, 'b');
    await a.close();
    await b.full;
    assert.equal(await b.lease.isClosed(id), true);
    await b.close();
  });

  test('is over for a process that was frozen, before it does anything else', async (t) => {
    const fleet = await openFleet(t);
    const { lease, all, full, close } = await openHost(t, fleet, 'a');
    await full;
    const isHeld = (): boolean => lease.id !== undefined || all.some(({ token }) => token !== undefined);
    assert.equal(isHeld(), true);
    // Nothing else of this process runs meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fleet.file('a').lease_ms);
    assert.equal(isHeld(), false);
    await close();
  });
});
