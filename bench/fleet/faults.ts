/** How long callers wait when a host or a server is killed. */
import { once } from 'node:events';
import { checkFleet, fleetStatus, withWire } from '@tool-runtime/fleet/operate';
import type { BenchFleet } from './bench-fleet.ts';

const LEASE_MS = 2000;
const LANES = 8;
const AFTER_MS = 2000;

/** Milliseconds from the death of a host until a call that it had taken is refused. */
export async function timesUntilKnown(bench: BenchFleet, rounds: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const host = await bench.startHost('a', 'dies', LEASE_MS);
    const client = await bench.client('dies', { failoverMs: 0, reconnect: { attempts: 1 } });
    await client.call('fs_list', { path: '.' });
    // Frozen, it takes the call and does not answer it.
    host.kill('SIGSTOP');
    const refused = client.call('fs_list', { path: '.' }).then(
      () => Promise.reject(new TypeError('A dead host answered')),
      () => performance.now(),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    const killed = performance.now();
    host.kill('SIGKILL');
    await once(host, 'exit');
    found.push((await refused) - killed);
    await client.close().catch(() => undefined);
  }
  return found;
}

/** The longest time without any answer around the death of the server that leads the journal. */
export async function leaderPauses(bench: BenchFleet, rounds: number): Promise<readonly number[]> {
  const host = await bench.startHost('a', 'reads', 15_000);
  const client = await bench.client('reads');
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const leader = await wholeLeader(bench);
    const server = bench.servers.servers.find(({ name }) => name === leader);
    if (server === undefined) throw new TypeError(`No such server: ${leader}`);
    const stop = new AbortController();
    let [last, longest] = [performance.now(), 0];
    const lanes = Array.from({ length: LANES }, async () => {
      while (!stop.signal.aborted) {
        const answer = await client.call('fs_list', { path: '.' });
        if (!answer.ok) throw new Error(JSON.stringify(answer));
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
    });
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS / 4));
    longest = 0;
    server.kill('SIGKILL');
    await server.ended();
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
    stop.abort();
    await Promise.all(lanes);
    found.push(longest);
    await server.start();
  }
  await wholeLeader(bench);
  await client.close();
  host.kill('SIGKILL');
  await once(host, 'exit');
  return found;
}

/** The leader of the journal, once all replicas of all streams follow. */
async function wholeLeader(bench: BenchFleet): Promise<string> {
  const file = checkFleet(bench.options('operator'));
  return withWire(file, async (wire) => {
    for (;;) {
      const { streams } = await fleetStatus(wire, { ...file, system: undefined }).catch(() => ({ streams: [] }));
      const leader = streams.find(({ name }) => name === 'JOURNAL')?.leader;
      if (leader !== undefined && streams.every((one) => one.leader !== undefined && one.behind.length === 0))
        return leader;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}
