/** A host that lost its workspace claims no call and changes nothing. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createFleetLedger } from '../src/ledger/fleet-ledger.ts';
import { createPayloads } from '../src/ledger/payloads.ts';
import { openWire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet } from './fixtures.ts';

const CALL = { scope: 's', key: 'k', tool: 'file_write', args: {}, sessionId: 's', retrySafe: false };

async function openLedgers(t: TestContext) {
  const fleet = await startFleet(t);
  const wire = await openWire(fleet.file('a'), 'test');
  t.after(() => wire.close());
  await ensureStreams(wire, fleet.file('a'));
  const payloads = createPayloads(wire);
  return (boot: string, lease: { readonly token: number | undefined }) =>
    createFleetLedger({ wire, workspace: 'shop', host: 'a', boot, lease, payloads, now: Date.now });
}

test('without the workspace a host claims no call and passes no fence; with it, both', async (t) => {
  const open = await openLedgers(t);
  const lease: { token: number | undefined } = { token: undefined };
  const ledger = open('boot', lease);
  const call = { ...CALL, callId: 'c' };
  const isFenced = (error: unknown): boolean => isToolError(error) && error.details['reason'] === 'fenced';
  assert.throws(() => ledger.checkFence(), isFenced);
  await assert.rejects(ledger.begin(call), isFenced);
  assert.deepEqual(await ledger.lookup(call), { state: 'new' });
  lease.token = 1;
  ledger.checkFence();
  assert.equal((await ledger.begin(call)).state, 'claimed');
});

test('of many processes that begin a call at once, one claims it', async (t) => {
  const open = await openLedgers(t);
  const begun = await Promise.all(
    Array.from({ length: 8 }, (_, at) => open(`boot-${at}`, { token: 1 }).begin({ ...CALL, callId: `c${at}` })),
  );
  assert.equal(begun.filter(({ state }) => state === 'claimed').length, 1);
});
