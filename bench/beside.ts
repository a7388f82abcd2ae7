/**
 * `npm run beside -- FOLDER`: the programs of this checkout and of another one, built, in turns on one machine.
 *
 * It shows what a change did to the speed: check out the commit before it, run `npm ci` there, and name its folder. Both work
 * over MCP stdio in workspaces of their own, with the defaults of their time.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { callPlan, type GroupOptions } from './group.ts';
import { makeLargeRepository } from './large-repository.ts';
import { type McpClient, startMcpClient } from './mcp/mcp-client.ts';
import { type Case, type Comparison, compare, inFlight, inSequence, type Plan, quantile } from './measure.ts';
import { formatTable, tableOf } from './table.ts';

const BARE = 'node -e 0';
const IN_FLIGHT = 32;
const LINES = Array.from({ length: 10_000 }, (_, index) => `export const value${index} = compute(${index});`);
const MIDDLE = 5000;

interface Side {
  readonly name: 'before' | 'after';
  readonly program: string;
  readonly workspace: string;
  readonly state: string;
}

type Call = (client: McpClient, side: Side) => Promise<void>;

/** What both sides can do; `turn` counts the calls of one side, so that each call changes something. */
const WORKS: Readonly<Record<string, (turn: () => number) => Call>> = {
  'file_read, 1 KB': () => (client) => client.call('file_read', { path: 'small.txt' }),
  'file_read, 100 KB': () => (client) => client.call('file_read', { path: 'middle.txt' }),
  'file_write, 1 KB': (turn) => (client) =>
    client.call('file_write', { path: `written-${turn() % IN_FLIGHT}.txt`, content: `${turn()}\n`.padStart(1024) }),
  // Before anything changes a file that git knows.
  'git_add and git_commit':
    (turn) =>
    async (client, { workspace }) => {
      writeFileSync(join(workspace, 'dir0', 'file0.txt'), `edit ${turn()}\n`);
      await client.call('git_add', { paths: ['dir0/file0.txt'] });
      await client.call('git_commit', { message: `chore: edit ${turn()}` });
    },
  'file_patch, one hunk in 10,000 lines': (turn) => (client) =>
    client.call('file_patch', { path: 'lines.ts', unified_diff: hunk(turn() % 2 === 1) }),
  'grep, 10,000 matches': () => (client) =>
    client.call('grep', { pattern: 'compute', glob: 'lines.ts', max_results: 10_000 }),
  'fs_list, 1,000 files': () => (client) => client.call('fs_list', { glob: 'dir*/**', max_results: 1000 }),
  'ast_query, 200 answers': () => (client) => client.call('ast_query', { where: { type: 'fn' }, limit: 200 }),
};
/** Too slow, or of no interest, in great numbers at once. */
const CROWDED = ['file_read, 1 KB', 'file_write, 1 KB'];

async function main(args: readonly string[]): Promise<number> {
  const options = { quick: args.includes('--quick') };
  const folder = args.find((arg) => !arg.startsWith('--'));
  if (folder === undefined || !existsSync(programOf(folder))) {
    console.error(
      `Usage: npm run beside -- FOLDER\nNo built checkout: ${folder ?? 'FOLDER is missing'}. Run npm ci there first.`,
    );
    return 2;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-beside-'));
  try {
    const sides = [
      await prepare('before', folder, scratch),
      await prepare('after', join(import.meta.dirname, '..'), scratch),
    ];
    await compareStarts(sides, options);
    await compareCalls(sides, options);
    return 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function programOf(folder: string): string {
  return join(resolve(folder), 'packages/host/bin/tool-runtime.js');
}

async function prepare(name: Side['name'], folder: string, scratch: string): Promise<Side> {
  const workspace = join(scratch, name);
  await makeLargeRepository(workspace, { files: 1000, commits: 2 });
  mkdirSync(join(workspace, 'src'));
  writeFileSync(join(workspace, 'small.txt'), 'x'.repeat(1023).concat('\n'));
  writeFileSync(join(workspace, 'middle.txt'), `${'x'.repeat(63)}\n`.repeat(1600));
  writeFileSync(join(workspace, 'lines.ts'), `${LINES.join('\n')}\n`);
  for (let at = 0; at < 300; at++) writeFileSync(join(workspace, 'src', `part${at}.ts`), sourceOf(at));
  execFileSync('git', ['add', '-A'], { cwd: workspace });
  execFileSync('git', ['commit', '-q', '-m', 'chore: begin'], { cwd: workspace });
  return { name, program: programOf(folder), workspace, state: join(scratch, `${name}-state`) };
}

function sourceOf(at: number): string {
  const functions = Array.from(
    { length: 20 },
    (_, index) => `export function part${at}of${index}(n: number) {\n  return n + ${index};\n}\n`,
  );
  return functions.join('\n');
}

function hunk(back: boolean): string {
  const [old, changed] = [LINES[MIDDLE], 'export const changed = true;'];
  const [minus, plus] = back ? [changed, old] : [old, changed];
  const above = LINES.slice(MIDDLE - 3, MIDDLE)
    .map((line) => ` ${line}\n`)
    .join('');
  const below = LINES.slice(MIDDLE + 1, MIDDLE + 4)
    .map((line) => ` ${line}\n`)
    .join('');
  return `--- a/lines.ts\n+++ b/lines.ts\n@@ -${MIDDLE - 2},7 +${MIDDLE - 2},7 @@\n${above}-${minus}\n+${plus}\n${below}`;
}

async function compareStarts(sides: readonly Side[], { quick }: GroupOptions): Promise<void> {
  const plan: Plan = {
    rounds: quick ? 1 : 15,
    samplesPerRound: 1,
    sampleMs: 0,
    warmUpMs: quick ? 0 : 300,
    quietMs: quick ? 0 : 500,
    longestMs: 60_000,
  };
  const run = (args: readonly string[], cwd: string) =>
    inSequence(async () => {
      const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
      if (status !== 0) throw new TypeError(`The program failed: ${args.join(' ')}: ${stderr}`);
    });
  const memory = new Map<string, number[]>();
  const cases: Case[] = [
    { name: BARE, run: run(['-e', '0'], tmpdir()) },
    ...sides.flatMap((side): Case[] => [
      { name: `--version, ${side.name}`, run: run([side.program, '--version'], side.workspace) },
      {
        name: `call file_read, ${side.name}`,
        run: run([side.program, 'call', 'file_read', 'path=small.txt', ...placeOf(side)], side.workspace),
      },
      {
        name: `mcp, tools listed, ${side.name}`,
        run: inSequence(async () => {
          const client = await open(side);
          await client.ask('tools/list', {});
          memory.set(side.name, [...(memory.get(side.name) ?? []), client.memory() / 1024]);
          client.close();
        }),
      },
    ]),
  ];
  show(await compare(cases, plan), 'Starts', ['--version', 'call file_read', 'mcp, tools listed'], [BARE]);
  for (const [name, sizes] of memory) console.log(`  memory of mcp, ${name}: ${quantile(sizes, 0.5).toFixed(0)} MB`);
}

function placeOf({ workspace, state }: Side): readonly string[] {
  return ['--workspace', workspace, '--state', state];
}

function open(side: Side): Promise<McpClient> {
  return startMcpClient({ args: [side.program, 'mcp', ...placeOf(side)], cwd: side.workspace, family: '2025' });
}

async function compareCalls(sides: readonly Side[], options: GroupOptions): Promise<void> {
  const usual = callPlan(options);
  const plan: Plan = options.quick ? usual : { ...usual, rounds: 12, samplesPerRound: 3, longestMs: 8000 };
  const opened = await Promise.all(sides.map(async (side) => ({ side, client: await open(side) })));
  try {
    for (const [work, make] of Object.entries(WORKS)) {
      for (const width of CROWDED.includes(work) ? [1, IN_FLIGHT] : [1]) {
        const cases = opened.map(({ side, client }): Case => {
          let turns = 0;
          const call = make(() => turns++);
          const one = () => call(client, side);
          return {
            name: `${work}, ${side.name}`,
            unit: width,
            run: width === 1 ? inSequence(one) : inFlight(width, one),
          };
        });
        show(await compare(cases, plan), `${work}, ${width} in flight`, [work], []);
      }
    }
  } finally {
    for (const { client } of opened) client.close();
  }
}

/** Each work before and after, as parts of before. */
function show(comparison: Comparison, title: string, works: readonly string[], peers: readonly string[]): void {
  for (const work of works) {
    const names = [...peers, `${work}, before`, `${work}, after`];
    const table = tableOf(comparison, {
      title: works.length > 1 ? `${title}: ${work}` : title,
      peers: [`${work}, before`, ...peers],
      names,
    });
    console.log(`\n${formatTable(table)}`);
  }
}

process.exitCode = await main(process.argv.slice(2));
