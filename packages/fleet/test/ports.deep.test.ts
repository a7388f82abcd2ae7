/** The suites of all ports over real servers: one, and three of which one after another is killed. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { artifactStoreSuite, budgetPortSuite, effectLedgerSuite } from '@tool-runtime/sdk/testing';
import { withWire } from '../src/operate/overview.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet, type TestFleet } from './fixtures.ts';
import { type Killer, startKiller } from './killer.ts';
import { callBusSuite } from './suites/call-bus-suite.ts';
import { leaseSuite } from './suites/lease-suite.ts';
import { openArtifacts, openBudgets, openBus, openLeases, openLedgers } from './suites/open-ports.ts';

const ends: (() => Promise<void> | void)[] = [];
const scope = { after: (end: () => Promise<void> | void) => ends.push(end) };

function allSuites(fleet: () => TestFleet): void {
  describe('each port', { concurrency: true }, () => {
    effectLedgerSuite('the ledger of a fleet', (t) => openLedgers(t, fleet()));
    leaseSuite('the lease of a workspace', (t) => openLeases(t, fleet()));
    budgetPortSuite('the budget of a fleet', (t, calls) => openBudgets(t, fleet(), calls));
    artifactStoreSuite('artifacts of a fleet', (t) => openArtifacts(t, fleet()));
    callBusSuite('tunnels', (t) => openBus(t, fleet()));
  });
}

describe('on one server', () => {
  let fleet: TestFleet;
  before(async () => {
    fleet = await startFleet(scope);
    await withWire(fleet.file('a'), (wire) => ensureStreams(wire, fleet.file('a')));
  });
  allSuites(() => fleet);
});

describe('on three servers, with a killer', () => {
  let fleet: TestFleet;
  let killer: Killer;
  before(async () => {
    // A lease that outlasts the elections: the cases say themselves when the workspace moves.
    fleet = await startFleet(scope, { count: 3, leaseMs: 60_000 });
    killer = await startKiller(fleet, 2);
  });
  after(async () => assert.ok((await killer.stop()) > 0, 'no server was killed'));
  allSuites(() => fleet);
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});
