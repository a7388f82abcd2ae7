/**
 * A host that is killed without warning under load, again and again, on the same folders. After each death: what was
 * acknowledged is on record, what was begun is reported, and nothing happens twice, also when it is asked for again.
 */
import { CallBook } from './call-book.ts';
import type { JournalCounts } from './check-journal.ts';
import { type Crowd, gatherCrowd, type LoadStage, openLoadStage } from './crowd.ts';
import { MOSTLY_EFFECTS } from './lane.ts';
import { Problems } from './problems.ts';
import { readJournal, verifyJournal } from './run-load.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

export interface KillOptions {
  readonly sessions: number;
  readonly inFlight: number;
  readonly kills: number;
  /** The moment of a kill is drawn up to this long after the load has begun. */
  readonly longestSeconds: number;
  readonly seed: number;
}

export interface KillRound {
  /** How long after the load began. */
  readonly killedAfterMillis: number;
  readonly calls: number;
  /** Without an answer when the host died. */
  readonly lost: number;
  /** Keyed ones of them that were made again after the restart. */
  readonly repeated: number;
  /** From the record, or because they had not run. */
  readonly answered: number;
  /** Refused, because it is unknown whether they took effect. */
  readonly stillUnknown: number;
}

export interface KillReport {
  readonly problems: Problems;
  readonly rounds: readonly KillRound[];
  readonly journal: JournalCounts;
}

export async function runKills({ sessions, inFlight, kills, longestSeconds, seed }: KillOptions): Promise<KillReport> {
  const problems = new Problems();
  const book = new CallBook(problems);
  const random = seededRandom(seed);
  using stage = openLoadStage({ inFlight, random, mix: MOSTLY_EFFECTS });
  const parts: KillParts = { stage, book, random, problems, sessions };
  const rounds: KillRound[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const killedAfterMillis = 50 + random.below(longestSeconds * 1000);
    rounds.push(await killOnce(parts, killedAfterMillis));
  }
  stage.files.check(stage.workspace, problems, { leftovers: 'temporary' });
  await verifyJournal(stage, problems);
  return { problems, rounds, journal: await readJournal(stage, book, problems) };
}

interface KillParts {
  readonly stage: LoadStage;
  readonly book: CallBook;
  readonly random: SeededRandom;
  readonly problems: Problems;
  readonly sessions: number;
}

async function killOnce(parts: KillParts, killedAfterMillis: number): Promise<KillRound> {
  const { stage, book, random, sessions } = parts;
  const before = book.calls.size;
  const serve = await stage.start();
  const crowd = await gatherCrowd({ sessions, serve, book, lanes: stage.lanes, random });
  let isDead = false;
  const running = crowd.run(() => isDead);
  await new Promise((resolve) => setTimeout(resolve, killedAfterMillis));
  isDead = true;
  await serve.kill();
  await running;
  await crowd.abandon();
  const made = [...book.calls.values()].slice(before);
  const lost = made.filter(({ state }) => state === 'lost').length;
  return { killedAfterMillis, calls: made.length, lost, ...(await comeBack(parts)) };
}

/** The next start: it must have reported what is unfinished before it takes the first call. */
async function comeBack({ stage, book, random, problems }: KillParts): Promise<Repeats> {
  const { lanes } = stage;
  const serve = await stage.start();
  const crowd = await gatherCrowd({ sessions: 3, serve, book, lanes, random });
  for (const lane of lanes) {
    const problem = lane.lookAgain();
    if (problem !== undefined) problems.add(problem);
  }
  const repeats = await repeatLost(stage, book, crowd);
  const { requestedSinceReport } = await readJournal(stage, book, problems);
  // By their order in the journal: the clocks of two processes differ.
  if (requestedSinceReport < repeats.repeated) problems.add('the host took calls before it reported unfinished ones');
  await crowd.leave();
  const code = await serve.stop();
  if (code !== 0) problems.add(`serve ended with ${code} after a restart`);
  return repeats;
}

type Repeats = Pick<KillRound, 'repeated' | 'answered' | 'stillUnknown'>;

/** Asks again for every keyed call whose answer never came. */
async function repeatLost({ lanes }: LoadStage, book: CallBook, { clients }: Crowd): Promise<Repeats> {
  const first = book.calls.size;
  for (const client of clients) {
    for (const lane of lanes) for (const plan of lane.repeatsOf(client.transport)) await book.make(plan, client);
  }
  const made = [...book.calls.values()].slice(first);
  const answered = made.filter(({ outcome }) => outcome === 'ok').length;
  return { repeated: made.length, answered, stillUnknown: made.length - answered };
}
