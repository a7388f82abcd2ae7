/** Many sessions over all transports, and a few lanes that call through whichever session chance gives them. */
import { execFileSync } from 'node:child_process';
import type { Pool } from 'undici';
import type { CallBook, TransportName } from './call-book.ts';
import { type CallMix, Lane } from './lane.ts';
import { ExpectedFiles, initialFiles } from './lane-files.ts';
import { type LoadClient, OPENERS, openPool } from './load-clients.ts';
import type { SeededRandom } from './seeded-random.ts';
import { openServeStage, type ServeProcess, type ServeStage } from './serve-process.ts';

const TRANSPORTS = ['websocket', 'http', 'lines'] as const satisfies readonly TransportName[];
/** One session in so many hears every change of status of its calls. */
const EVENT_STRIDE = 4;
/** Sessions that are opened or closed at the same time. */
const WIDTH = 32;

export interface LoadStage extends ServeStage {
  readonly files: ExpectedFiles;
  readonly lanes: readonly Lane[];
}

export interface LoadStageOptions {
  readonly inFlight: number;
  readonly random: SeededRandom;
  readonly mix: CallMix;
}

export function openLoadStage({ inFlight, random, mix }: LoadStageOptions): LoadStage {
  const initial = initialFiles(inFlight);
  const stage = openServeStage(initial);
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: stage.workspace });
  const files = new ExpectedFiles(initial);
  const { workspace } = stage;
  const lanes = Array.from({ length: inFlight }, (_, number) => new Lane({ number, random, files, workspace, mix }));
  return { ...stage, files, lanes };
}

export interface Crowd {
  readonly clients: readonly LoadClient[];
  /** All lanes call until `isOver`; resolves when each has its last answer. */
  run(isOver: () => boolean): Promise<void>;
  /** Every session says goodbye. */
  leave(): Promise<void>;
  /** For a host that is gone: no farewell is possible. */
  abandon(): Promise<void>;
}

export interface CrowdOptions {
  readonly sessions: number;
  readonly serve: ServeProcess;
  readonly book: CallBook;
  readonly lanes: readonly Lane[];
  readonly random: SeededRandom;
}

export async function gatherCrowd({ sessions, serve, book, lanes, random }: CrowdOptions): Promise<Crowd> {
  const pool = openPool(serve, lanes.length);
  const clients: LoadClient[] = [];
  await inTurns(sessions, async (index) => {
    const transport = TRANSPORTS[index % TRANSPORTS.length] ?? 'lines';
    const wantsEvents = Math.floor(index / TRANSPORTS.length) % EVENT_STRIDE === 0;
    clients.push(await OPENERS[transport]({ book, serve, pool, wantsEvents }));
  });
  return {
    clients,
    async run(isOver) {
      await Promise.all(
        lanes.map(async (lane) => {
          while (!isOver()) {
            const client = random.pick(clients);
            await book.make(lane.next(client.transport), client);
          }
        }),
      );
    },
    async leave() {
      await inTurns(clients.length, async (index) => clients[index]?.close());
      await pool.close();
    },
    abandon: () => destroy(pool),
  };
}

async function destroy(pool: Pool): Promise<void> {
  await pool.destroy();
}

async function inTurns(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WIDTH }, turn));
}
