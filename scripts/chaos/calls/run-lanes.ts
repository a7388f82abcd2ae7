/** The callers: each makes one call after the other through whichever session chance gives it, until told to stop. */
import { setTimeout as pause } from 'node:timers/promises';
import type { CallBook } from '../../../packages/host/test/load/call-book.ts';
import type { SeededRandom } from '../../../packages/host/test/load/seeded-random.ts';
import type { ChaosClient } from '../clients/chaos-client.ts';
import type { ClientPool } from '../clients/client-pool.ts';
import type { Site } from '../stage/site.ts';
import type { TimeLine } from '../time-line.ts';
import type { CallKind, Lane } from './call-maker.ts';
import { gitOnlyCalls, mainCalls, otherCalls } from './catalog.ts';

export interface LanesOptions {
  readonly book: CallBook;
  readonly pool: ClientPool;
  readonly random: SeededRandom;
  readonly timeLine: TimeLine;
  readonly sites: readonly [main: Site, other: Site];
  readonly ports: Lane['ports'];
  readonly count: number;
  readonly isOver: () => boolean;
  readonly failures: Lane['failures'];
}

/** One call in so many is several at once, on one connection. */
const BURST_STRIDE = 25;
const BURST = 5;

export async function runLanes(options: LanesOptions): Promise<void> {
  const [main, other] = options.sites;
  const lanes = Array.from({ length: options.count }, (_, number) => {
    if (number === 0) return runLane(createLane(number, other, options), gitOnlyCalls, options);
    const isMain = number % 4 !== 1;
    return runLane(createLane(number, isMain ? main : other, options), isMain ? mainCalls : otherCalls, options);
  });
  await Promise.all(lanes);
}

function createLane(number: number, site: Site, { random, timeLine, ports, failures }: LanesOptions): Lane {
  return { number, site, random, timeLine, ports, failures, generation: 0, turn: 0, trees: [], keyed: [] };
}

async function runLane(lane: Lane, kinds: readonly CallKind[], options: LanesOptions): Promise<void> {
  const drawn = kinds.flatMap((kind) => new Array<CallKind>(kind.weight).fill(kind));
  while (!options.isOver()) {
    const client = options.pool.pick(lane.site.name);
    if (client === undefined) await pause(20);
    else await takeTurn(lane, drawn, client, options);
  }
}

async function takeTurn(
  lane: Lane,
  drawn: readonly CallKind[],
  client: ChaosClient,
  { book, random }: LanesOptions,
): Promise<void> {
  const plan = random.pick(drawn).make(lane, client);
  // Another turn of the event loop: nothing to do may be drawn many times in a row.
  if (plan === undefined) return pause(0);
  const isBurst = plan.tool === 'file_read' && random.below(BURST_STRIDE) === 0;
  const plans = isBurst ? new Array(BURST).fill(plan) : [plan];
  client.inFlight += plans.length;
  await Promise.all(plans.map((each) => book.make(each, client)));
  client.inFlight -= plans.length;
}
