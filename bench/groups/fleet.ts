/**
 * A fleet on one machine: three servers that sync every record, hosts and clients share its processors with them.
 *
 * A call with a key is journaled by the fleet: it is claimed before it runs, and answered when its outcome is on three
 * replicas; one that may change something is looked up first. The ledger row is all of that alone; the rows below are whole
 * calls, which a host also governs and records.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinFleet, readFleetFile } from '@tool-runtime/fleet/host';
import type { Budget } from '../budget.ts';
import { type BenchFleet, startBenchFleet, usageOf } from '../fleet/bench-fleet.ts';
import { leaderPauses, timesUntilKnown } from '../fleet/faults.ts';
import { crowdNames, measureScale, type Scale } from '../fleet/scale.ts';
import type { Group, GroupOptions, GroupReport } from '../group.ts';
import {
  type Comparison,
  compare,
  estimateOf,
  inFlight,
  inSequence,
  microsOf,
  type Plan,
  perRound,
  quantile,
} from '../measure.ts';
import { type Table, tableOf } from '../table.ts';

const MANY = 256;
const CONNECTIONS = 4;
const WORKSPACE = 'shop';
const LEDGER = 'ledger: look-up, claim and outcome';
const KEYED = 'file_read with a key';
const WRITE = 'file_write with a key';
const PLAIN = 'file_read without a key';
const NAMES = [LEDGER, KEYED, WRITE, PLAIN];
const SCALE: Scale = { hosts: 1000, workspaces: 20_000, holdMs: 60_000 };
const QUICK_SCALE: Scale = { hosts: 4, workspaces: 40, holdMs: 500 };

export const fleet: Group = {
  name: 'fleet',
  summary: 'calls, faults and sizes of a fleet with three servers on this machine',
  async run(options) {
    const scale = options.quick ? QUICK_SCALE : SCALE;
    const bench = await startBenchFleet(crowdNames(scale));
    try {
      const calls = await measureCalls(bench, options);
      const faults = await measureFaults(bench, options);
      const sizes = await measureScale(bench, scale);
      return { tables: [...calls.tables, ...faults.tables], budgets: [...calls.budgets, ...faults.budgets, ...sizes] };
    } finally {
      await bench.close();
    }
  },
};

type Calls = Readonly<Record<string, () => Promise<unknown>>>;

async function measureCalls(bench: BenchFleet, options: GroupOptions): Promise<GroupReport> {
  const host = await bench.startHost('a', WORKSPACE, 15_000);
  writeFileSync(join(bench.folder, WORKSPACE, 'small.txt'), 'x'.repeat(700));
  const { ledger, close } = await openLedger(bench);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => bench.client(WORKSPACE)));
  let made = 0;
  const call = async (tool: string, args: object, isKeyed: boolean): Promise<void> => {
    const client = clients[made++ % CONNECTIONS];
    const answer = await client?.call(tool, { ...args }, isKeyed ? { idempotencyKey: randomUUID() } : {});
    if (answer?.ok !== true) throw new Error(JSON.stringify(answer));
  };
  const calls: Calls = {
    [LEDGER]: ledger,
    [KEYED]: () => call('file_read', { path: 'small.txt' }, true),
    // One file for each in flight, as a file takes one change at a time.
    [WRITE]: () => call('file_write', { path: `f${made % MANY}.txt`, content: 'x'.repeat(100) }, true),
    [PLAIN]: () => call('file_read', { path: 'small.txt' }, false),
  };
  const one = Object.entries(calls).map(([name, run]) => ({ name, run: inSequence(run) }));
  const many = Object.entries(calls).map(([name, run]) => ({ name, unit: MANY, run: inFlight(MANY, run) }));
  const alone = await compare(one, planOf(options, 40));
  const crowd = await compare(many, planOf(options, 3));
  const pids = [process.pid, host.pid ?? 0, ...bench.servers.servers.map(({ pid = 0 }) => pid)];
  const processor = async (name: string): Promise<Budget> => {
    const measured = await processorMicros(pids, calls[name] ?? (async () => undefined), options);
    return { name: `${name}: processor time of all`, atMost: 667, unit: 'µs', measured };
  };
  const processors = [await processor(LEDGER), await processor(KEYED), await processor(PLAIN)];
  for (const client of clients) await client.close();
  await close();
  host.kill('SIGKILL');
  const view = (title: string) => ({ title, peers: [PLAIN], names: NAMES });
  const rate = (name: string) => perRound(crowd, (micros) => 1e6 / micros(name));
  return {
    tables: [
      tableOf(alone, view('One call at a time')),
      tableOf(crowd, view(`${MANY} calls in flight over ${CONNECTIONS} connections, per call`)),
    ],
    budgets: [
      { name: `${LEDGER}, ${MANY} in flight`, atLeast: 3000, unit: 'calls/s', ...rate(LEDGER) },
      { name: `${KEYED}, ${MANY} in flight`, atLeast: 3000, unit: 'calls/s', ...rate(KEYED) },
      { name: `${LEDGER}, one in flight`, atMost: 4, unit: 'ms', ...millisOf(alone, LEDGER) },
      { name: `${KEYED}, one in flight`, atMost: 4, unit: 'ms', ...millisOf(alone, KEYED) },
      ...processors,
    ],
  };
}

/** Of client, host and servers for one call; 667 µs allow 3,000 calls a second on two processors, however busy those are now. */
async function processorMicros(
  pids: readonly number[],
  call: () => Promise<unknown>,
  { quick }: GroupOptions,
): Promise<number> {
  const calls = MANY * (quick ? 1 : 20);
  const used = (): number => pids.reduce((sum, pid) => sum + usageOf(pid).cpuMs, 0);
  const before = used();
  await inFlight(MANY, call)(calls);
  return (1000 * (used() - before)) / calls;
}

/** One call for each sample where they are made one at a time, so that a median of samples is a median of calls. */
function planOf({ quick }: GroupOptions, samplesPerRound: number): Plan {
  if (quick) return { rounds: 2, samplesPerRound: 2, sampleMs: 0.01, warmUpMs: 0, quietMs: 0 };
  return { rounds: 12, samplesPerRound, sampleMs: 0.01, warmUpMs: 3000, quietMs: 500, longestMs: 60_000 };
}

function millisOf(comparison: Comparison, name: string) {
  const { rounds } = microsOf(comparison, name);
  return estimateOf(rounds.map((micros) => micros / 1000));
}

/** What a host does in the ledger for one call, without the host. */
async function openLedger(bench: BenchFleet) {
  const file = join(bench.folder, 'ledger.yaml');
  writeFileSync(file, JSON.stringify(bench.options('b')));
  const held = Promise.withResolvers<void>();
  const log = (event: string): void => void (event === 'workspace_held' && held.resolve());
  const member = await joinFleet(readFleetFile(file), { workspaces: ['ledger'], version: '0', log });
  await held.promise;
  const port = member.ledgerOf('ledger');
  return {
    async ledger() {
      const name = { scope: 'bench', key: randomUUID(), tool: 'file_read', args: { path: 'x'.repeat(150) } };
      await port.lookup(name);
      const claim = await port.begin({ ...name, callId: name.key, sessionId: 'bench', retrySafe: true });
      if (claim.state !== 'claimed') throw new TypeError(`The call is ${claim.state}`);
      await claim.finish({ data: 'y'.repeat(700) });
    },
    close: () => member.close(),
  };
}

async function measureFaults(bench: BenchFleet, { quick }: GroupOptions): Promise<GroupReport> {
  const rounds = quick ? 1 : 5;
  const known = await timesUntilKnown(bench, rounds);
  const pauses = await leaderPauses(bench, rounds);
  const row = (name: string, millis: readonly number[]) => {
    const medianMicros = 1000 * quantile(millis, 0.5);
    const [bestMicros, p99Micros] = [1000 * Math.min(...millis), 1000 * Math.max(...millis)];
    return { name, medianMicros, bestMicros, p99Micros, perSecond: 1e6 / medianMicros, ratios: [] };
  };
  const [death, pause] = ['a host is killed: until the caller knows', 'the leader is killed: longest pause of reads'];
  const table: Table = {
    title: `Faults, ${rounds} times each`,
    peers: [],
    rows: [row(death, known), row(pause, pauses)],
  };
  return {
    tables: [table],
    budgets: [
      { name: death, atMost: 300, unit: 'ms', ...estimateOf(known) },
      { name: pause, atMost: 100, unit: 'ms', ...estimateOf(pauses) },
    ],
  };
}
