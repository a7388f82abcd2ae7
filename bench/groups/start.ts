/**
 * From nothing to an answer: a bare Node, the command's version, an import of the SDK, one governed and journaled read
 * with and without a running host, an MCP server that is ready. As built, not as source.
 *
 * The table shows the time on the clock. Budgets are about CPU time of the process, user and system, which depends less on
 * what else the machine does; starts take turns, and a ratio is taken inside each round.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';
import type { Group, GroupReport } from '../group.ts';
import { type Case, compare, type Estimate, estimateOf, type Plan } from '../measure.ts';
import { tableOf } from '../table.ts';

const HOST = join(import.meta.dirname, '../../packages/host');
const COMMAND = join(HOST, 'bin/tool-runtime.js');

const BARE = 'node -e 0';
const VERSION = 'tool-runtime --version';
const IMPORT = "import '@tool-runtime/sdk'";
const CALL = 'tool-runtime call file_read';
const HOSTED = `${CALL}, with a host`;

/** One spawn is long enough to be a sample. */
const THOROUGH: Plan = {
  rounds: 25,
  samplesPerRound: 1,
  sampleMs: 0,
  warmUpMs: 300,
  quietMs: 1000,
  longestMs: 60_000,
};
const QUICK: Plan = { rounds: 2, samplesPerRound: 1, sampleMs: 0, warmUpMs: 0, quietMs: 0 };

export const start: Group = {
  name: 'start',
  summary: 'process start to answer against a bare node',
  async run({ quick }) {
    ensureBuilt();
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-start-'));
    const host = await serve(scratch);
    try {
      return await measureStarts(scratch, quick ? QUICK : THOROUGH);
    } finally {
      host.kill('SIGTERM');
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

function foldersOf(scratch: string, state: string): readonly string[] {
  return ['--workspace', join(scratch, 'workspace'), '--state', join(scratch, state)];
}

async function serve(scratch: string): Promise<ChildProcess> {
  mkdirSync(join(scratch, 'workspace'));
  writeFileSync(join(scratch, 'workspace/file.txt'), 'x'.repeat(1024));
  writeFileSync(join(scratch, 'cpu.cjs'), PRINT_CPU);
  const words = [COMMAND, 'serve', '--http', 'none', ...foldersOf(scratch, 'hosted')];
  const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(host.stdout, 'data');
  return host;
}

async function measureStarts(scratch: string, plan: Plan): Promise<GroupReport> {
  const read = (state: string) => [COMMAND, 'call', ...foldersOf(scratch, state), 'file_read', 'path=file.txt'];
  const starts: Readonly<Record<string, readonly string[]>> = {
    [BARE]: ['-e', '0'],
    [VERSION]: [COMMAND, '--version'],
    [IMPORT]: ['--input-type=module', '-e', IMPORT],
    [CALL]: read('alone'),
    [HOSTED]: read('hosted'),
  };
  const names = Object.keys(starts);
  const cases = names.map(
    (name): Case => ({
      name,
      run(calls) {
        for (let made = 0; made < calls; made++) runOrThrow(starts[name] ?? []);
      },
    }),
  );
  const compared = await compare(cases, plan);
  const cpu = measureCpu(scratch, starts, plan.rounds);
  const ofCpu = (figure: (own: number, bare: number) => number, name: string): Estimate =>
    estimateOf(cpu(name).map((own, round) => figure(own, cpu(BARE)[round] ?? Number.NaN)));
  const times = (name: string): Estimate => ofCpu((own, bare) => own / bare, name);
  const mcp = await startMcp(scratch, plan.rounds);
  return {
    tables: [tableOf(compared, { title: 'Process start', peers: [BARE], names })],
    budgets: [
      { name: `${VERSION}, CPU, times ${BARE}`, atMost: 1.3, unit: 'x', ...times(VERSION) },
      {
        name: `${IMPORT}, CPU, more than ${BARE}`,
        atMost: 100,
        unit: 'ms',
        ...ofCpu((own, bare) => own - bare, IMPORT),
      },
      { name: `${CALL}, CPU, times ${BARE}`, atMost: 4, unit: 'x', ...times(CALL) },
      { name: `${HOSTED}, CPU, times ${BARE}`, atMost: 2, unit: 'x', ...times(HOSTED) },
      { name: 'tool-runtime mcp, start to answer of initialize', atMost: 100, unit: 'ms', ...estimateOf(mcp.ready) },
      { name: 'tool-runtime mcp, memory after it', atMost: 75, unit: 'MB', ...estimateOf(mcp.megabytes) },
    ],
  };
}

/** Loaded before the program: writes what the process has used when it ends. */
const PRINT_CPU = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(3, String(user + system));
});\n`;

/** Milliseconds in each round; every start has its turn in it. */
function measureCpu(
  scratch: string,
  starts: Readonly<Record<string, readonly string[]>>,
  rounds: number,
): (name: string) => readonly number[] {
  const found = new Map<string, number[]>(Object.keys(starts).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries(starts)) {
      const used = runOrThrow(['-r', join(scratch, 'cpu.cjs'), ...args]);
      found.get(name)?.push(Number(used) / 1000);
    }
  }
  return (name) => found.get(name) ?? [];
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

async function startMcp(scratch: string, rounds: number): Promise<{ ready: number[]; megabytes: number[] }> {
  const [ready, memory]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const words = [COMMAND, 'mcp', ...foldersOf(scratch, 'mcp')];
    const server = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    server.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await once(server.stdout, 'data');
    ready.push(performance.now() - began);
    memory.push(residentMegabytes(server.pid ?? 0));
    const ended = once(server, 'close');
    server.stdin.end();
    await ended;
  }
  return { ready, megabytes: memory };
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Answers what the process wrote to its fourth stream. */
function runOrThrow(args: readonly string[]): string {
  const { status, stderr, output } = spawnSync(process.execPath, args, {
    cwd: HOST,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new TypeError(`Exit ${status}: node ${args.join(' ')}\n${stderr}`);
  return output[3] ?? '';
}
