/** A call that takes one host after another with it is parked: no further host begins it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createFleetLedger } from '../src/ledger/fleet-ledger.ts';
import { createPayloads } from '../src/ledger/payloads.ts';
import { listOpenCalls } from '../src/operate/overview.ts';
import { openWire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet } from './fixtures.ts';

test('after three hosts were lost with a call, the fourth parks it, and operators see it', async (t) => {
  const fleet = await startFleet(t);
  const wire = await openWire(fleet.file('a'), 'test');
  t.after(() => wire.close());
  const operator = await openWire(fleet.file('operator'), 'operator');
  t.after(() => operator.close());
  await ensureStreams(wire, fleet.file('a'));
  const payloads = createPayloads(wire);
  const call = { scope: 's', key: 'k', tool: 'file_read', args: { path: 'poison' }, sessionId: 's', retrySafe: true };
  // Each host has a newer token than the one before, which is how it knows that the other one lost the workspace.
  const host = (token: number) =>
    createFleetLedger({
      wire,
      workspace: 'shop',
      host: 'a',
      boot: randomUUID(),
      lease: { token },
      payloads,
      now: Date.now,
    });
  assert.equal((await host(1).begin({ ...call, callId: 'call-1' })).state, 'claimed');
  for (const token of [2, 3]) {
    const lost = await host(token).lookup(call);
    assert.ok(lost.state === 'lost');
    const begun = await host(token).begin({ ...call, callId: `call-${token}`, over: lost.at });
    assert.equal(begun.state, 'claimed');
  }
  const isParked = (error: unknown): boolean => isToolError(error) && error.details['reason'] === 'parked';
  const fourth = host(4);
  const lost = await fourth.lookup(call);
  assert.ok(lost.state === 'lost');
  await assert.rejects(fourth.begin({ ...call, callId: 'call-4', over: lost.at }), isParked);
  await assert.rejects(host(5).lookup(call), isParked);
  assert.deepEqual(
    (await listOpenCalls(operator)).map(({ key, parked }) => [key, parked]),
    [['k', true]],
  );
  const other = await host(5).begin({ ...call, key: 'other', callId: 'call-5' });
  assert.equal(other.state, 'claimed');
});
