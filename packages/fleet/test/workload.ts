/**
 * Work of two hosts on one workspace while servers or the network fail, and the oracle over what came of it.
 *
 * Both hosts get every call. The one that claims it appends a line to a file, which is the effect, and finishes it.
 */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { EffectClaim, EffectLedger } from '@tool-runtime/sdk';
import { type FleetMember, joinFleet } from '../src/join-fleet.ts';
import type { CallMessage } from '../src/ledger/fleet-ledger.ts';
import type { FleetFile } from '../src/wire/fleet-file.ts';
import { STREAMS } from '../src/wire/names.ts';
import type { Wire } from '../src/wire/open-wire.ts';
import { readStream } from '../src/wire/read-stream.ts';

export interface Workload {
  readonly members: readonly FleetMember[];
  /** Resolves when so many more calls were acknowledged. */
  progress(calls: number): Promise<void>;
  /** Ends the work and checks it; resolves with the number of acknowledged calls. */
  check(wire: Wire): Promise<number>;
}

const LANES = 4;

export async function startWork(files: readonly FleetFile[], folder: string): Promise<Workload> {
  const effects = path.join(folder, 'effects.log');
  const members = await Promise.all(
    files.map((file) => joinFleet(file, { workspaces: ['shop'], version: '0', log() {} })),
  );
  const ledgers = members.map((member) => member.ledgerOf('shop'));
  const acknowledged = new Map<string, string>();
  const stop = new AbortController();
  const hasHappened = (key: string): boolean => existsSync(effects) && linesOf(effects).includes(key);

  /** True when the call has an outcome that was acknowledged here. */
  async function attempt(ledger: EffectLedger, key: string, by: string): Promise<boolean> {
    const call = { scope: 'work', key, tool: 'append', args: { key }, sessionId: 's', retrySafe: false };
    const callId = `${key}-${by}`;
    try {
      let begun = await ledger.begin({ ...call, callId });
      if (begun.state === 'lost') begun = await ledger.begin({ ...call, callId, over: begun.at });
      if (begun.state === 'done') return true;
      if (begun.state !== 'claimed') return false;
      ledger.checkFence();
      if (!hasHappened(key)) appendFileSync(effects, `${key}\n`);
      if (!(await (begun as EffectClaim).finish({ by }))) return false;
      assert.equal(acknowledged.get(key), undefined, `${key} was acknowledged twice`);
      acknowledged.set(key, by);
      return true;
    } catch (error) {
      assert.ok(isToolError(error) && typeof error.details['reason'] === 'string', String(error));
      return false;
    }
  }

  // Each host works on its own: one that waits for a server must not hold up the other.
  const lanes = ledgers.flatMap((ledger, host) =>
    Array.from({ length: LANES }, async (_, lane) => {
      for (let at = 0; !stop.signal.aborted; at++) {
        const key = `${lane}-${at}`;
        while (!stop.signal.aborted && !acknowledged.has(key) && !(await attempt(ledger, key, `host-${host}`))) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }),
  );

  return {
    members,
    async progress(calls) {
      const goal = acknowledged.size + calls;
      while (acknowledged.size < goal) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async check(wire) {
      stop.abort();
      await Promise.all(lanes);
      const lines = linesOf(effects);
      assert.equal(new Set(lines).size, lines.length, 'an effect happened twice');
      const happened = new Set(lines);
      const results = await resultsOf(wire);
      for (const [key, by] of acknowledged) {
        assert.ok(happened.has(key), `${key} was acknowledged and did not happen`);
        assert.deepEqual(results.get(key), [by], `${key} has another result than the acknowledged one, or several`);
      }
      for (let lane = 0; lane < LANES; lane++) {
        const order = [...results.keys()]
          .filter((key) => key.startsWith(`${lane}-`))
          .map((key) => Number(key.split('-')[1]));
        assert.deepEqual(
          order,
          order.toSorted((one, other) => one - other),
          'results are out of order',
        );
      }
      await Promise.all(members.map((member) => member.close()));
      return acknowledged.size;
    },
  };
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** Who gave the results of each call, in the order of the stream. */
async function resultsOf(wire: Wire): Promise<ReadonlyMap<string, readonly string[]>> {
  const results = new Map<string, string[]>();
  for await (const message of readStream(wire, STREAMS.journal)) {
    const { state, key, answer } = message.json<CallMessage>();
    if (state === 'result') results.set(key, [...(results.get(key) ?? []), String(answer?.['by'])]);
  }
  return results;
}
