/** The suite of the ledger over real servers: one, and three of which one after another is killed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, type TestContext } from 'node:test';
import { effectLedgerSuite, type LedgerPair } from '@tool-runtime/sdk/testing';
import { createFleetLedger } from '../src/ledger/fleet-ledger.ts';
import { createPayloads } from '../src/ledger/payloads.ts';
import { WorkspaceLease } from '../src/ledger/workspace-lease.ts';
import { openWire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet, type TestFleet } from './fixtures.ts';
import { type Killer, startKiller } from './killer.ts';

const ends: (() => Promise<void> | void)[] = [];
const scope = { after: (end: () => Promise<void> | void) => ends.push(end) };

async function openPair(t: TestContext, fleet: TestFleet): Promise<LedgerPair> {
  const workspace = `w-${randomUUID()}`;
  const member = async (name: 'a' | 'b') => {
    const file = fleet.file(name);
    const wire = await openWire(file, name);
    await ensureStreams(wire, file);
    const held = { resolve: (): void => {} };
    const isHeld = new Promise<void>((resolve) => {
      held.resolve = resolve;
    });
    const lease = new WorkspaceLease({
      wire,
      workspace,
      host: name,
      zone: 'z',
      boot: `boot-${name}`,
      leaseMs: file.lease_ms,
      onHeld: () => held.resolve(),
      onLost() {},
    });
    const payloads = createPayloads(wire);
    const ledger = createFleetLedger({
      wire,
      workspace,
      host: name,
      boot: `boot-${name}`,
      lease,
      payloads,
      now: Date.now,
    });
    await lease.start();
    t.after(async () => {
      await lease.close();
      await wire.close();
    });
    return { lease, ledger, isHeld };
  };
  const a = await member('a');
  await a.isHeld;
  const b = await member('b');
  return {
    first: a.ledger,
    second: b.ledger,
    async move() {
      await a.lease.want(false);
      await b.isHeld;
    },
  };
}

describe('on one server', () => {
  let fleet: TestFleet;
  before(async () => {
    fleet = await startFleet(scope);
  });
  effectLedgerSuite('the ledger of a fleet', (t) => openPair(t, fleet));
});

describe('on three servers, with a killer', () => {
  let fleet: TestFleet;
  let killer: Killer;
  before(async () => {
    // A lease that outlasts the elections: the cases say themselves when the workspace moves.
    fleet = await startFleet(scope, { count: 3, leaseMs: 60_000 });
    killer = await startKiller(fleet);
  });
  after(async () => assert.ok((await killer.stop()) > 0, 'no server was killed'));
  effectLedgerSuite('the ledger of a fleet', (t) => openPair(t, fleet));
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});
