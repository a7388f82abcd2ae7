/** The suite of the ledger over real servers: one, and three of which one is killed all the time. */
import { mkdtempSync } from 'node:fs';
import { after, before, describe, type TestContext } from 'node:test';
import { effectLedgerSuite, type LedgerPair } from '@tool-runtime/sdk/testing';
import { createFleetLedger } from '../src/ledger/fleet-ledger.ts';
import { createPayloads } from '../src/ledger/payloads.ts';
import { WorkspaceLease } from '../src/ledger/workspace-lease.ts';
import { openWire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet, type TestFleet } from './fixtures.ts';

const ends: (() => Promise<void> | void)[] = [];
const scope = { after: (end: () => Promise<void> | void) => ends.push(end) };

async function openPair(t: TestContext, fleet: TestFleet): Promise<LedgerPair> {
  const workspace = `w-${mkdtempSync('/tmp/fleet-name-').slice(-6)}`;
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
  const killing = new AbortController();
  let killer: Promise<void>;
  before(async () => {
    fleet = await startFleet(scope, { count: 3, leaseMs: 15_000 });
    killer = (async () => {
      for (let at = 0; !killing.signal.aborted; at++) {
        const server = fleet.servers.servers[at % 3];
        server?.kill('SIGKILL');
        await server?.ended();
        await server?.start();
        // For the cluster to be whole again: two of three must agree at any time.
        await new Promise((resolve) => setTimeout(resolve, 8000));
      }
    })();
  });
  after(async () => {
    killing.abort();
    await killer;
  });
  effectLedgerSuite('the ledger of a fleet', (t) => openPair(t, fleet));
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});
