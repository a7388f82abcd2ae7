/**
 * Starting commands: bare, in the same sandbox by hand, and governed; and what 1 GB of host memory does to each.
 *
 * "By hand" is the sandbox's own command line, started without judging, recording or reading anything.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Session } from '@tool-runtime/sdk';
import { callPlan, type Group, type GroupOptions } from '../group.ts';
import {
  type Case,
  type Comparison,
  compare,
  type Estimate,
  estimateOf,
  inFlight,
  inSequence,
  microsOf,
  perRound,
  timesAs,
} from '../measure.ts';
import { sandboxByHand } from '../sandbox-by-hand.ts';
import { tableOf } from '../table.ts';

const BALLAST_BYTES = 1024 * 1024 * 1024;
const PLAIN = '/bin/true, child_process.spawn';
const BY_HAND = '/bin/true in the sandbox, by hand';
const GOVERNED = 'shell_exec true';
const SANDBOXED = 'shell_exec true, sandboxed mode';
const ABREAST = 'shell_exec true, sandboxed mode, 50 in flight';

export const commands: Group = {
  name: 'commands',
  summary: 'shell_exec against the same sandbox by hand, with a small and a large host; curl on loopback',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-commands-'));
    const workspace = join(scratch, 'workspace');
    mkdirSync(workspace);
    const server = createServer((_request, response) => response.end('x'.repeat(1024))).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const registry = `version: 1\nshell_allow: ['^true$', '^head ']\nnetwork:\n  allowed_domains: ['${address}']\n`;
    const runtime = await createRuntime({
      workspace,
      state: join(scratch, 'state'),
      registry: { text: registry, file: 'bench' },
    });
    try {
      const session = await runtime.openSession();
      const scripts = await openScripts(scratch);
      const byHand = await sandboxByHand(workspace, join(scratch, 'sandbox'));
      const starts = await compareStarts({ session, scripts: scripts.session }, byHand, options);
      await scripts.close();
      const web = await compareWeb(session, `http://${address}/`, options);
      return { tables: [...starts.tables, ...web.tables], budgets: [...starts.budgets, ...web.budgets] };
    } finally {
      server.close();
      server.closeAllConnections();
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

/** The same in sandboxed mode: bash runs the line. */
async function openScripts(scratch: string): Promise<{ readonly session: Session; close(): Promise<void> }> {
  const workspace = join(scratch, 'scripts');
  mkdirSync(workspace);
  const registry = { text: 'version: 1\nshell: {mode: sandboxed}\n', file: 'bench' };
  const runtime = await createRuntime({ workspace, state: join(scratch, 'scripts-state'), registry });
  return { session: await runtime.openSession(), close: () => runtime.close() };
}

interface Sessions {
  readonly session: Session;
  readonly scripts: Session;
}

async function compareStarts({ session, scripts }: Sessions, byHand: () => Promise<void>, options: GroupOptions) {
  const cases: Case[] = [
    { name: PLAIN, run: inSequence(() => plainStart()) },
    { name: BY_HAND, run: inSequence(byHand) },
    { name: GOVERNED, run: inSequence(() => run(session, { cmd: 'true' })) },
    { name: SANDBOXED, run: inSequence(() => run(scripts, { cmd: 'true' })) },
    { name: ABREAST, unit: 50, run: inFlight(50, () => run(scripts, { cmd: 'true' })) },
  ];
  const plan = { ...callPlan(options), samplesPerRound: options.quick ? 1 : 4 };
  const small = await compare(cases, plan);
  const ballast = options.quick ? Buffer.alloc(1) : Buffer.alloc(BALLAST_BYTES, 1);
  const large = await compare(cases.slice(0, 3), plan);
  const output = await throughput(session, options);
  return {
    tables: [
      tableOf(small, { title: 'Starts, small host', peers: [PLAIN, BY_HAND], names: [...small.cases.keys()] }),
      tableOf(large, {
        title: `Starts, ${ballast.length >> 20} MB more`,
        peers: [PLAIN, BY_HAND],
        names: [...large.cases.keys()],
      }),
    ],
    budgets: [
      {
        name: 'shell_exec true over 1.25 x the sandbox by hand',
        atMost: 1,
        unit: 'ms',
        ...perRound(small, (micros) => (micros(GOVERNED) - 1.25 * micros(BY_HAND)) / 1000),
      },
      {
        name: 'shell_exec with 1 GB of host memory against a small host',
        atMost: 1.3,
        unit: 'x',
        ...againstSmall(small, large),
      },
      {
        name: 'shell_exec true in sandboxed mode against strict mode',
        atMost: 1.3,
        unit: 'x',
        ...timesAs(small, SANDBOXED, GOVERNED),
      },
      { name: '100 MB of output', atLeast: 300, unit: 'MB/s', ...output },
    ],
  };
}

/** The same round of both: they are not measured in turns, because memory cannot be had and not had by turns. */
function againstSmall(small: Comparison, large: Comparison): Estimate {
  const [few, much] = [microsOf(small, GOVERNED).rounds, microsOf(large, GOVERNED).rounds];
  return estimateOf(much.flatMap((micros, round) => (few[round] === undefined ? [] : [micros / few[round]])));
}

function plainStart(): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn('/bin/true', { stdio: 'ignore' })
      .once('error', reject)
      .once('exit', () => resolve());
  });
}

async function run(session: Session, args: object): Promise<void> {
  const { ok, errors } = await session.call('shell_exec', args);
  if (!ok) throw new TypeError(`The benchmark was refused: ${errors[0]?.message}`);
}

async function throughput(session: Session, { quick }: GroupOptions): Promise<Estimate> {
  const megabytes = quick ? 1 : 100;
  const speeds: number[] = [];
  for (let round = 0; round < (quick ? 1 : 9); round++) {
    const started = performance.now();
    await run(session, { cmd: `head -c ${megabytes * 1_000_000} /dev/zero` });
    speeds.push(megabytes / ((performance.now() - started) / 1000));
  }
  return estimateOf(speeds);
}

async function compareWeb(session: Session, url: string, options: GroupOptions) {
  const cases: Case[] = [
    { name: 'node:http request', run: inSequence(() => plainRequest(url)) },
    { name: 'fetch (undici)', run: inSequence(async () => void (await (await fetch(url)).arrayBuffer())) },
    { name: 'curl, journaled', run: inSequence(() => get(session, url)) },
  ];
  const compared = await compare(cases, callPlan(options));
  return {
    tables: [
      tableOf(compared, { title: '1 KB over loopback', peers: ['fetch (undici)'], names: [...compared.cases.keys()] }),
    ],
    budgets: [
      {
        name: 'curl of 1 KB against fetch',
        atMost: 2,
        unit: 'x',
        ...timesAs(compared, 'curl, journaled', 'fetch (undici)'),
      },
    ],
  };
}

async function get(session: Session, url: string): Promise<void> {
  const { ok, errors } = await session.call('curl', { method: 'GET', url });
  if (!ok) throw new TypeError(`The benchmark was refused: ${errors[0]?.message}`);
}

function plainRequest(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, (response) => response.resume().once('end', () => resolve()))
      .once('error', reject)
      .end();
  });
}
