/** One run: a host, its callers, its faults, and the check of everything they left. */
import { setTimeout as pause } from 'node:timers/promises';
import { CallBook, type SentCall } from '../../packages/host/test/load/call-book.ts';
import { type LatencyRow, latencyRows } from '../../packages/host/test/load/latency-table.ts';
import { seededRandom } from '../../packages/host/test/load/seeded-random.ts';
import { eventually } from '../../packages/host/test/wire/within.ts';
import type { FailedCall } from './calls/call-maker.ts';
import { runLanes } from './calls/run-lanes.ts';
import { ClientPool } from './clients/client-pool.ts';
import { makeTrouble } from './faults/make-trouble.ts';
import { checkDescriptorsAtRest } from './host/descriptors-at-rest.ts';
import { HostKeeper } from './host/host-keeper.ts';
import type { HostProcess } from './host/host-process.ts';
import { watchGrowth } from './host/watch-growth.ts';
import { checkCanaries } from './oracle/canaries.ts';
import { checkTold } from './oracle/check-told.ts';
import { type Growth, judgeGrowth } from './oracle/growth.ts';
import { type JournalCounts, judgeJournal, type ToldCall } from './oracle/judge-journal.ts';
import { withJournal } from './oracle/open-journal.ts';
import { probeAtRest } from './oracle/probe-at-rest.ts';
import { type ChaosStage, openStage } from './stage/open-stage.ts';
import { TimeLine } from './time-line.ts';
import { Violations } from './violations.ts';

export interface ChaosOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Names of faults; all by default. */
  readonly only?: readonly string[];
  readonly announce?: (text: string) => void;
}

export interface ChaosReport {
  readonly violations: Violations;
  readonly timeLine: TimeLine;
  readonly calls: readonly SentCall[];
  readonly sessions: number;
  readonly deaths: number;
  /** Processes that outlived their host until the next one started. */
  readonly outlived: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly missing: readonly string[];
  readonly latencies: readonly LatencyRow[];
  readonly growth: readonly Growth[];
  readonly journals: Readonly<Record<string, JournalCounts>>;
  /** Lines of the host's log about unexpected errors. */
  readonly unexpected: ReadonlyMap<string, number>;
}

const CLIENTS = 20;
const LANES = 16;
const SETTLE_MS = 60_000;
const LONGEST_CALL_MS = 90_000;

export async function runChaos({ minutes, seed, only, announce }: ChaosOptions): Promise<ChaosReport> {
  const timeLine = new TimeLine();
  const violations = new Violations(timeLine, announce);
  const stage = await openStage((words) => violations.add(`no escape: ${words}`));
  try {
    return await runOn(stage, { minutes, seed, ...(only === undefined ? {} : { only }) }, { timeLine, violations });
  } finally {
    stage.close();
  }
}

interface Records {
  readonly timeLine: TimeLine;
  readonly violations: Violations;
}

async function runOn(
  stage: ChaosStage,
  options: ChaosOptions,
  { timeLine, violations }: Records,
): Promise<ChaosReport> {
  const random = seededRandom(options.seed);
  const book = new CallBook(violations);
  const siteOf = new Map<string, string>();
  const names = stage.sites.map(({ name }) => name);
  const pool = new ClientPool({ book, random, timeLine, violations, sites: names, size: CLIENTS, siteOf });
  const onStarted = pool.connect.bind(pool);
  const keeper = new HostKeeper({ stage, timeLine, violations, onStarted, onGone: () => pool.abandon() });
  const durationMs = options.minutes * 60_000;
  await keeper.start();
  const beganMs = timeLine.nowMs;
  const isOver = (): boolean => timeLine.nowMs - beganMs >= durationMs;
  const context = { stage, keeper, random: seededRandom(options.seed + 1), timeLine, violations };
  const mayKill = (): boolean => timeLine.nowMs - beganMs < durationMs / 2;
  const trouble = makeTrouble(context, { only: options.only, isOver, mayKill });
  const { allowedPort: allowed, canaryPort: canary } = stage.servers;
  const { sites } = stage;
  const failures = new Map<string, FailedCall>();
  const ports = { allowed, canary };
  const lanes = runLanes({ book, pool, random, timeLine, sites, ports, count: LANES, isOver, failures });
  const samples = watchGrowth(keeper, timeLine, isOver);
  void watchForHangs(book, violations, isOver);
  await Promise.all([trouble.over, samples, within(lanes, durationMs + SETTLE_MS, violations)]);
  const growth = judgeGrowth(await samples, violations);
  const journals = await judgeRest({ stage, keeper, pool, book, siteOf, failures, timeLine, violations });
  return {
    violations,
    timeLine,
    calls: [...book.calls.values()],
    sessions: pool.opened,
    deaths: keeper.deaths,
    outlived: keeper.outlived,
    faults: trouble.counts,
    missing: trouble.missing,
    latencies: latencyRows(book.calls.values()),
    growth,
    journals,
    unexpected: keeper.unexpected(),
  };
}

/** A caller that never gets its last answer must not hold up the judgement of the rest. */
async function within(work: Promise<void>, limitMs: number, violations: Violations): Promise<void> {
  const late = pause(limitMs, 'late', { ref: false });
  if ((await Promise.race([work, late])) === 'late')
    violations.add('callers still wait for answers long after the end');
}

async function watchForHangs(book: CallBook, violations: Violations, isOver: () => boolean): Promise<void> {
  const reported = new Set<string>();
  while (!isOver()) {
    await pause(5000, undefined, { ref: false });
    for (const { requestId, state, sentAt, plan, transport } of book.calls.values()) {
      if (state !== 'open' || performance.now() - sentAt < LONGEST_CALL_MS || reported.has(requestId)) continue;
      reported.add(requestId);
      violations.add(`no answer for ${LONGEST_CALL_MS} ms: ${requestId} (${plan.kind} over ${transport})`);
    }
  }
}

interface RestParts extends Records {
  readonly stage: ChaosStage;
  readonly keeper: HostKeeper;
  readonly pool: ClientPool;
  readonly book: CallBook;
  readonly siteOf: ReadonlyMap<string, string>;
  readonly failures: ReadonlyMap<string, FailedCall>;
}

/** Quiet, a stop, and then everything on disk. */
async function judgeRest(parts: RestParts): Promise<Record<string, JournalCounts>> {
  const { stage, keeper, pool, violations, timeLine } = parts;
  timeLine.note('quiet');
  await pool.close();
  const { host } = keeper;
  if (host !== undefined) {
    const probed = async (): Promise<void> => {
      for (const site of stage.sites) await probeAtRest(host, site, violations);
      await checkIdle(host, pool.abandoned, violations);
      await checkDescriptorsAtRest(host, violations);
    };
    await probed().catch((thrown: unknown) => violations.add(`host cannot be probed at rest: ${thrown}`));
  }
  // Once more without a word, so that the last thing judged is a start after a death.
  await keeper.kill();
  await keeper.start();
  const code = await keeper.stop();
  if (code !== 0) violations.add(`host ended with ${code} after a stop: ${keeper.logs.at(-1)?.slice(-800)}`);
  const journals: Record<string, JournalCounts> = {};
  for (const site of stage.sites) {
    checkTold(site, violations);
    const calls = toldCalls(parts, site.name);
    journals[site.name] = await withJournal(site, (journal) =>
      judgeJournal(journal.read({ archived: true }), calls, violations),
    );
  }
  checkCanaries(stage.outside, `${stage.outside}-as-it-was`, violations);
  return journals;
}

function toldCalls({ book, siteOf, failures }: RestParts, site: string): readonly ToldCall[] {
  const calls = [...book.calls.values()].filter(({ sessionId }) => siteOf.get(sessionId) === site);
  return calls.map(({ requestId, sessionId, transport, state, outcome, plan }) => ({
    requestId,
    sessionId,
    transport,
    state,
    ...(outcome === undefined ? {} : { outcome }),
    tool: plan.tool,
    failure: failures.get(requestId),
  }));
}

/**
 * Sessions whose client could not say goodbye wait for it to come back, or expire later. A client hears that its
 * connection is closed before the host has ended the session.
 */
async function checkIdle(host: HostProcess, abandoned: number, violations: Violations): Promise<void> {
  let seen = '';
  const isIdle = async (): Promise<boolean> => {
    const { sessions, in_flight, approvals } = await host.status();
    seen = `${sessions} sessions, ${in_flight} calls, ${approvals} approvals`;
    return in_flight + approvals === 0 && sessions <= abandoned;
  };
  await eventually(isIdle, 'an idle host').catch(() => violations.add(`left over in the host: ${seen}`));
}
