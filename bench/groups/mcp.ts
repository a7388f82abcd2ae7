/**
 * MCP over stdio: our governed and journaled tools against the filesystem server, which neither judges nor records, and
 * against a tool on the same SDK that does nothing. As built, not as source.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';
import type { Budget } from '../budget.ts';
import { callPlan, type Group, type GroupOptions, type GroupReport } from '../group.ts';
import { type McpClient, type McpProgram, startMcpClient } from '../mcp/mcp-client.ts';
import {
  type Case,
  type Comparison,
  compare,
  estimateOf,
  inFlight,
  inSequence,
  type Plan,
  perRound,
  quantile,
  timesFaster,
} from '../measure.ts';
import { type Table, tableOf } from '../table.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const IN_FLIGHT = 32;
const PEER = 'filesystem server';
const ECHO = 'bare echo on the SDK';
const OURS = 'tool-runtime, 2025';
const OURS_2026 = 'tool-runtime, 2026';
/** As programs use it: the structure of an answer has the whole file, the text its beginning. */
const STRUCTURED = 'tool-runtime, 2025, profile structured';
/** Neither server syncs by itself what it writes. These two do: every file, and its folder, before they answer. */
const PEER_SYNCED = 'filesystem server, synced by a preload';
const OURS_SYNCED = 'tool-runtime, 2025, durability full';
const BARE = 'node -e 0';

const LINE = `${'x'.repeat(34)} = "${'y'.repeat(29)}";\n`;
const SIZES = { '1k.txt': 1024, '100k.txt': 102_400, '1m.txt': 1_048_576 } as const;
/** An answer of the usual profile holds 100,000 bytes of text; so many lines fit, and in so many parts the file is whole. */
const PART_LINES = 1400;
const PARTS = Math.ceil(SIZES['1m.txt'] / LINE.length / PART_LINES);

const nextTarget = roundRobin(32);
/** Never what is already there: a write that changes nothing is less work. */
let writes = 0;
const nextContent = (): string => `${String(writes++).padStart(8, '0')}${LINE.repeat(15).slice(8)}`;

type Name =
  | typeof PEER
  | typeof PEER_SYNCED
  | typeof ECHO
  | typeof OURS
  | typeof OURS_2026
  | typeof STRUCTURED
  | typeof OURS_SYNCED;
type Clients = Readonly<Record<Name, McpClient>>;
type Call = (client: McpClient, workspace: string) => Promise<void>;

interface Work {
  readonly title: string;
  readonly ours: Call;
  readonly peer: Call;
  /** Our servers; left out: those with the usual profile. */
  readonly servers?: readonly Name[];
  /** Left out: the filesystem server as it comes. */
  readonly against?: typeof PEER | typeof PEER_SYNCED;
  /** How many times faster than the peer one call at a time, and 32 in flight. */
  readonly wanted?: { readonly alone?: number; readonly crowd?: number };
}

const readOurs =
  (path: string): Call =>
  (client) =>
    client.call('file_read', { path });
const readPeer =
  (name: string): Call =>
  (client, workspace) =>
    client.call('read_text_file', { path: join(workspace, name) });

const writeOurs: Call = (client) => client.call('file_write', { path: nextTarget(), content: nextContent() });
const writePeer: Call = (client, workspace) =>
  client.call('write_file', { path: join(workspace, nextTarget()), content: nextContent() });

const WORKS: readonly Work[] = [
  { title: 'file_read, 1 KB', ours: readOurs('1k.txt'), peer: readPeer('1k.txt'), wanted: { alone: 1.8, crowd: 2.5 } },
  { title: 'file_read, 100 KB', ours: readOurs('100k.txt'), peer: readPeer('100k.txt'), wanted: { alone: 2 } },
  {
    title: 'file_read, 1 MB whole',
    ours: readOurs('1m.txt'),
    peer: readPeer('1m.txt'),
    servers: [STRUCTURED],
    wanted: { alone: 1.5 },
  },
  {
    title: `file_read, 1 MB whole, ours in ${PARTS} parts`,
    ours: async (client) => {
      for (let part = 0; part < PARTS; part++) {
        await client.call('file_read', { path: '1m.txt', offset: part * PART_LINES + 1, limit: PART_LINES });
      }
    },
    peer: readPeer('1m.txt'),
  },
  { title: 'file_read, 1 MB, ours cut to 128 Ki characters', ours: readOurs('1m.txt'), peer: readPeer('1m.txt') },
  { title: 'file_write, 1 KB', ours: writeOurs, peer: writePeer, wanted: { alone: 1.3 } },
  {
    title: 'file_write, 1 KB, both synced to the disk',
    ours: writeOurs,
    peer: writePeer,
    servers: [OURS_SYNCED],
    against: PEER_SYNCED,
    wanted: { alone: 1.3 },
  },
  {
    title: 'fs_list, 100 files',
    ours: (client) => client.call('fs_list', { glob: 'many/*' }),
    peer: (client, workspace) => client.call('list_directory', { path: join(workspace, 'many') }),
  },
  {
    title: 'find files by name, 400 files in 20 folders',
    ours: (client) => client.call('fs_list', { glob: 'tree/**/*7.ts' }),
    peer: (client, workspace) => client.call('search_files', { path: join(workspace, 'tree'), pattern: '**/*7.ts' }),
  },
];

export const mcp: Group = {
  name: 'mcp',
  summary: 'MCP over stdio against the filesystem server and a bare echo on the same SDK',
  async run(options) {
    ensureBuilt();
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-mcp-'));
    const workspace = join(scratch, 'workspace');
    fill(workspace);
    const programs = programsOf(scratch, workspace);
    try {
      const starts = await measureStarts(programs, options);
      const calls = await measureCalls(programs, workspace, options);
      return { tables: [...starts.tables, ...calls.tables], budgets: [...calls.budgets, ...starts.budgets] };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

function roundRobin(count: number): () => string {
  let last = 0;
  return () => {
    last = (last + 1) % count;
    return `target-${last}.txt`;
  };
}

function fill(workspace: string): void {
  for (const folder of ['', 'many', 'tree']) mkdirSync(join(workspace, folder));
  for (const [name, size] of Object.entries(SIZES)) {
    writeFileSync(
      join(workspace, name),
      LINE.repeat(Math.ceil(size / LINE.length))
        .slice(0, size - 1)
        .concat('\n'),
    );
  }
  for (let at = 0; at < 32; at++) writeFileSync(join(workspace, `target-${at}.txt`), LINE);
  for (let at = 0; at < 100; at++) writeFileSync(join(workspace, 'many', `file-${at}.txt`), '');
  for (let folder = 0; folder < 20; folder++) {
    mkdirSync(join(workspace, 'tree', `folder-${folder}`));
    for (let at = 0; at < 20; at++) writeFileSync(join(workspace, 'tree', `folder-${folder}`, `file-${at}.ts`), '');
  }
}

function programsOf(scratch: string, workspace: string): Readonly<Record<Name, McpProgram>> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  const command = [join(REPOSITORY, 'packages/host/bin/tool-runtime.js'), 'mcp', '--workspace', workspace];
  const at = { cwd: workspace };
  const peer = [join(dirname(manifest), 'dist/index.js'), workspace];
  const preload = ['--import', pathToFileURL(join(REPOSITORY, 'bench/mcp/sync-renames.ts')).href];
  return {
    [PEER]: { ...at, args: peer, family: '2025' },
    [PEER_SYNCED]: { ...at, args: [...preload, ...peer], family: '2025' },
    [ECHO]: { ...at, args: [join(REPOSITORY, 'bench/mcp/echo-server.ts')], family: '2025' },
    [OURS]: { ...at, args: [...command, '--state', join(scratch, 'state-2025')], family: '2025' },
    [OURS_2026]: { ...at, args: [...command, '--state', join(scratch, 'state-2026')], family: '2026' },
    [STRUCTURED]: {
      ...at,
      args: [...command, '--state', join(scratch, 'state-structured'), '--profile', 'structured'],
      family: '2025',
    },
    [OURS_SYNCED]: {
      ...at,
      args: [...command, '--state', join(scratch, 'state-synced'), '--durability', 'full'],
      family: '2025',
    },
  };
}

/** They start like the usual ones. */
const VARIANTS: ReadonlySet<string> = new Set([STRUCTURED, PEER_SYNCED, OURS_SYNCED]);

type Programs = Readonly<Record<Name, McpProgram>>;

/** Clients ask for the list as soon as the opening is answered, so a model can work from then on. */
const GOALS = {
  'first answer': async () => {},
  'the list of tools': async (client: McpClient) => void (await client.ask('tools/list', {})),
} as const;

async function measureStarts(programs: Programs, options: GroupOptions): Promise<GroupReport> {
  await startEachOnce(programs, options.quick ? 0 : COMPILED_MS);
  const reports: GroupReport[] = [];
  for (const goal of Object.keys(GOALS))
    reports.push(await measureStartTo(goal as keyof typeof GOALS, programs, options));
  return { tables: reports.flatMap(({ tables }) => tables), budgets: reports.flatMap(({ budgets }) => budgets) };
}

async function measureStartTo(
  goal: keyof typeof GOALS,
  programs: Programs,
  { quick }: GroupOptions,
): Promise<GroupReport> {
  const plan: Plan = {
    rounds: quick ? 1 : 15,
    samplesPerRound: 1,
    sampleMs: 0,
    warmUpMs: quick ? 0 : 300,
    quietMs: quick ? 0 : 1000,
    longestMs: 20_000,
  };
  const memory = new Map<string, number[]>();
  const startOne = async (name: string, program: McpProgram): Promise<void> => {
    const client = await startMcpClient(program);
    await GOALS[goal](client);
    memory.set(name, [...(memory.get(name) ?? []), client.memory() / 1024]);
    client.close();
  };
  const cases: Case[] = [
    { name: BARE, run: inSequence(async () => void execFileSync(process.execPath, ['-e', '0'])) },
    ...Object.entries(programs)
      .filter(([name]) => !VARIANTS.has(name))
      .map(([name, program]) => ({ name, run: inSequence(() => startOne(name, program)) })),
  ];
  const starts = await compare(cases, plan);
  const table = tableOf(starts, {
    title: `Start to ${goal}`,
    peers: [BARE, PEER],
    names: cases.map(({ name }) => name),
  });
  const megabytes = [...memory].map(([name, sizes]) => `${name} ${quantile(sizes, 0.5).toFixed(0)} MB`).join(', ');
  return {
    tables: [{ ...table, note: `${table.note}; memory after it: ${megabytes}` }],
    budgets: [OURS, OURS_2026].flatMap((name): Budget[] => [
      {
        name: `${name}: start to ${goal}`,
        atMost: 100,
        unit: 'ms',
        ...perRound(starts, (micros) => micros(name) / 1000),
      },
      {
        name: `${name}: memory after ${goal}`,
        atMost: 75,
        unit: 'MB',
        ...estimateOf(memory.get(name) ?? []),
      },
    ]),
  };
}

/** Programs keep what they compiled at their first start, some of them a moment after it. */
const COMPILED_MS = 2000;

async function startEachOnce(programs: Programs, ms: number): Promise<void> {
  const clients = await Promise.all(Object.values(programs).map(startMcpClient));
  await setTimeout(ms);
  for (const client of clients) client.close();
}

async function measureCalls(
  programs: Readonly<Record<Name, McpProgram>>,
  workspace: string,
  options: GroupOptions,
): Promise<GroupReport> {
  const opened = await Promise.all(
    Object.entries(programs).map(async ([name, program]) => [name, await startMcpClient(program)] as const),
  );
  const clients = Object.fromEntries(opened) as Clients;
  try {
    if (!options.quick) await warmServers(clients, workspace);
    const tables: Table[] = [];
    const budgets: Budget[] = [];
    for (const work of WORKS) {
      for (const width of [1, IN_FLIGHT]) {
        const comparison = await compare(casesOf(work, clients, workspace, width), planOf(options));
        tables.push(
          tableOf(comparison, {
            title: titleOf(work, width),
            peers: [work.against ?? PEER],
            names: [...comparison.cases.keys()],
          }),
        );
        budgets.push(...budgetsOf(work, comparison, width));
      }
    }
    return { tables, budgets };
  } finally {
    for (const client of Object.values(clients)) client.close();
  }
}

/** About as many calls as the last of its functions needs to be compiled; the same for every server. */
const WARMING_CALLS = 20_000;

async function warmServers(clients: Clients, workspace: string): Promise<void> {
  const [first] = WORKS;
  if (first === undefined) return;
  const servers: readonly Name[] = [...USUAL, STRUCTURED, OURS_SYNCED];
  for (const { run } of casesOf({ ...first, servers }, clients, workspace, IN_FLIGHT)) await run(WARMING_CALLS);
}

const USUAL: readonly Name[] = [OURS, OURS_2026];

function casesOf(
  { ours, peer, servers = USUAL, against = PEER }: Work,
  clients: Clients,
  workspace: string,
  width: number,
): Case[] {
  const calls: readonly (readonly [Name, Call])[] = [
    [against, peer],
    [ECHO, (client) => client.call('echo', { text: 'hello' })],
    ...servers.map((name) => [name, ours] as const),
  ];
  return calls.map(([name, call]) => {
    const one = (): Promise<void> => call(clients[name], workspace);
    return { name, unit: width, run: width === 1 ? inSequence(one) : inFlight(width, one) };
  });
}

/** Fewer samples than usual: some of these calls take milliseconds, and there are 32 of them. */
function planOf(options: GroupOptions): Plan {
  return options.quick ? callPlan(options) : { ...callPlan(options), rounds: 12, samplesPerRound: 3, longestMs: 6000 };
}

function titleOf({ title }: Work, width: number): string {
  return `${title}, ${width === 1 ? 'one call at a time' : `${width} calls in flight`}`;
}

function budgetsOf(work: Work, comparison: Comparison, width: number): Budget[] {
  const atLeast = width === 1 ? work.wanted?.alone : work.wanted?.crowd;
  if (atLeast === undefined) return [];
  const { against = PEER } = work;
  return (work.servers ?? USUAL).map((name) => ({
    name: `${name}: ${titleOf(work, width)}, times as fast as the ${against}`,
    atLeast,
    unit: 'x',
    ...timesFaster(comparison, name, against),
  }));
}
