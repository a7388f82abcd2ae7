/** Kills servers of a test fleet, one after another: the next one only when the cluster is whole again. */
import { STREAMS } from '../src/wire/names.ts';
import { openWire, type Wire } from '../src/wire/open-wire.ts';
import { isMissing } from '../src/wire/read-stream.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import type { TestFleet } from './fixtures.ts';

export interface Killer {
  /** Resolves with the number of kills, when the cluster is whole. */
  stop(): Promise<number>;
}

export async function startKiller(fleet: TestFleet, most: number): Promise<Killer> {
  const file = fleet.file('a');
  const wire = await openWire(file, 'killer');
  await ensureStreams(wire, file);
  await whole(wire);
  let isStopping = false;
  let kills = 0;
  const killing = (async () => {
    while (!isStopping && kills < most) {
      const leader = await leaderOf(wire, STREAMS.journal);
      const server = fleet.servers.servers.find(({ name }) => name === leader);
      if (server === undefined) continue;
      server.kill('SIGKILL');
      await server.ended();
      kills += 1;
      await server.start();
      await whole(wire);
    }
  })();
  return {
    async stop() {
      isStopping = true;
      await killing;
      await wire.close();
      return kills;
    },
  };
}

/** The name of the server that leads a stream; undefined while there is an election. */
export async function leaderOf({ jsm }: Wire, stream: string): Promise<string | undefined> {
  try {
    return (await jsm.streams.info(stream)).cluster?.leader;
  } catch {
    return undefined;
  }
}

/** Resolves when every stream has a leader and all of its replicas follow. */
export async function whole(wire: Wire): Promise<void> {
  while (!(await Promise.all(Object.values(STREAMS).map((name) => isWhole(wire, name)))).every(Boolean)) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function isWhole({ jsm, replicas }: Wire, stream: string): Promise<boolean> {
  try {
    const { cluster } = await jsm.streams.info(stream);
    const followers = cluster?.replicas ?? [];
    const isFollowed = followers.every(({ current, offline }) => current && offline !== true);
    return replicas === 1 || (Boolean(cluster?.leader) && followers.length === replicas - 1 && isFollowed);
  } catch (thrown) {
    return isMissing(thrown);
  }
}
