/**
 * A host under load for a while, judged from outside: what clients heard, what lies in the workspace, what is on record.
 */
import { createRuntime } from '@tool-runtime/sdk';
import { eventually } from '../wire/within.ts';
import { CallBook } from './call-book.ts';
import { checkJournal, type JournalCounts } from './check-journal.ts';
import { gatherCrowd, type LoadStage, openLoadStage } from './crowd.ts';
import { MIXED } from './lane.ts';
import { type LatencyRow, latencyRows } from './latency-table.ts';
import { type MemoryReport, watchMemory } from './memory-watch.ts';
import { Problems } from './problems.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServeProcess } from './serve-process.ts';

/** Kept answers and events fill up first: a run that is shorter says nothing about growth. */
const STEADY_SECONDS = 30;
const MAX_GROWTH = 1.5;

export interface LoadOptions {
  readonly sessions: number;
  readonly inFlight: number;
  readonly seconds: number;
  readonly seed: number;
  /** Goes on at the same time, until it is told to stop. */
  readonly beside?: (serve: ServeProcess, isOver: () => boolean) => Promise<unknown>;
}

export interface LoadReport {
  readonly problems: Problems;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly events: number;
  readonly eventsMissed: number;
  readonly openedMillis: number;
  readonly closedMillis: number;
  readonly latencies: readonly LatencyRow[];
  readonly memory: MemoryReport;
  readonly journal: JournalCounts;
}

export async function runLoad({ sessions, inFlight, seconds, seed, beside }: LoadOptions): Promise<LoadReport> {
  const problems = new Problems();
  const book = new CallBook(problems);
  const random = seededRandom(seed);
  using stage = openLoadStage({ inFlight, random, mix: MIXED });
  const serve = await stage.start();
  const [crowd, openedMillis] = await timed(gatherCrowd({ sessions, serve, book, lanes: stage.lanes, random }));
  const memory = watchMemory(serve, seconds);
  const end = performance.now() + seconds * 1000;
  const isOver = (): boolean => performance.now() >= end;
  const [, millis] = await timed(Promise.all([crowd.run(isOver), beside?.(serve, isOver)]));
  const memoryReport = await memory.stop();
  if (seconds >= STEADY_SECONDS && memoryReport.liveEndBytes > MAX_GROWTH * memoryReport.liveThirdBytes) {
    problems.add(
      `memory grows: ${memoryReport.liveThirdBytes} bytes after a third, ${memoryReport.liveEndBytes} at the end`,
    );
  }
  const [, closedMillis] = await timed(crowd.leave());
  const isAlone = beside === undefined;
  if (isAlone) await checkAtRest(serve, problems);
  const code = await serve.stop();
  if (code !== 0) problems.add(`serve ended with ${code}`);
  for (const { state, requestId, plan } of book.calls.values()) {
    if (state === 'lost') problems.add(`answer was lost: ${requestId} (${plan.kind})`);
  }
  stage.files.check(stage.workspace, problems, { leftovers: 'none' });
  await verifyJournal(stage, problems);
  const journal = await readJournal(stage, book, problems);
  const { sessionsOpened, sessionsClosed } = journal;
  if (sessionsOpened !== sessionsClosed || (isAlone && sessionsOpened !== book.sessions)) {
    problems.add(`${book.sessions} sessions, on record ${sessionsOpened}, ended ${sessionsClosed}`);
  }
  const { calls, events, eventsMissed } = book;
  const latencies = latencyRows(calls.values());
  const callsPerSecond = (calls.size * 1000) / millis;
  const counts = { calls: calls.size, callsPerSecond, events, eventsMissed, openedMillis, closedMillis };
  return { problems, ...counts, latencies, memory: memoryReport, journal };
}

/** Nothing may be left. A client hears that its connection is closed before the host has ended the session. */
async function checkAtRest(serve: ServeProcess, problems: Problems): Promise<void> {
  let seen = '';
  const isAtRest = async (): Promise<boolean> => {
    const { sessions, in_flight, approvals } = await serve.status();
    seen = `${sessions} sessions, ${in_flight} calls, ${approvals} approvals`;
    return sessions + in_flight + approvals === 0;
  };
  await eventually(isAtRest, 'a host at rest').catch(() => problems.add(`left over in the host: ${seen}`));
}

/** By the command, as an operator does it. */
export async function verifyJournal(stage: LoadStage, problems: Problems): Promise<void> {
  const { code, stdout, stderr } = await stage.run('audit', 'verify', '--json');
  if (code !== 0) problems.add(`audit verify ended with ${code}: ${stdout}${stderr}`);
}

export async function readJournal(stage: LoadStage, book: CallBook, problems: Problems): Promise<JournalCounts> {
  const { workspace, state } = stage;
  const runtime = await createRuntime({ workspace, state });
  try {
    return checkJournal(runtime.records(), book, problems);
  } finally {
    await runtime.close();
  }
}

async function timed<T>(work: Promise<T>): Promise<readonly [T, number]> {
  const started = performance.now();
  return [await work, performance.now() - started];
}
