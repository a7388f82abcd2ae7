/** Reading, writing, editing, listing and searching against the MCP filesystem server and against ripgrep itself. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Session } from '@tool-runtime/sdk';
import { rgPath } from '@vscode/ripgrep';
import { callPlan, type Group, type GroupOptions } from '../group.ts';
import { type Case, compare, inSequence, perRound, timesAs, timesFaster } from '../measure.ts';
import { tableOf } from '../table.ts';
import { startFilesystemServer, startOurs, type ToolServer } from '../tool-servers.ts';

const PEER = 'MCP filesystem server';
const OURS = 'tool-runtime stdio, journaled';

export const files: Group = {
  name: 'files',
  summary: 'read, write, edit, list and search against the MCP filesystem server and ripgrep',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-files-'));
    const workspace = join(scratch, 'workspace');
    makeTree(workspace, options.quick ? 200 : 20_000);
    const ours = await startOurs(workspace, join(scratch, 'state'));
    const peer = await startFilesystemServer(workspace);
    const runtime = await createRuntime({ workspace, state: join(scratch, 'state-in-process') });
    try {
      const servers = await compareServers({ ours, peer, workspace }, options);
      const search = await compareSearch(await runtime.openSession(), workspace, options);
      return { tables: [...servers.tables, ...search.tables], budgets: [...servers.budgets, ...search.budgets] };
    } finally {
      ours.close();
      peer.close();
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

function makeTree(workspace: string, count: number): void {
  const line = (n: number): string => `export function create${n}(value: number): number { return value * ${n}; }\n`;
  for (let n = 0; n < count; n++) {
    const folder = join(workspace, `package-${n % 40}`, `module-${n % 500}`);
    if (n < 20_000) mkdirSync(folder, { recursive: true });
    const common = `import { helper } from './helper-${n % 7}';\n`;
    writeFileSync(
      join(folder, `file-${n}.ts`),
      common + common + line(n).repeat(20) + (n % 300 === 7 ? 'rareNeedle\n' : ''),
    );
  }
  writeFileSync(join(workspace, 'small.txt'), 'x'.repeat(1023).concat('\n'));
  const lines = Array.from({ length: 10_000 }, (_, n) => `line ${n} of a long file`);
  for (const name of ['ours.txt', 'peer.txt']) writeFileSync(join(workspace, name), `${lines.join('\n')}\n`);
}

interface Servers {
  readonly ours: ToolServer;
  readonly peer: ToolServer;
  readonly workspace: string;
}

async function compareServers({ ours, peer, workspace }: Servers, options: GroupOptions) {
  const plan = callPlan(options);
  const at = (name: string): string => join(workspace, name);
  const content = 'y'.repeat(1024);
  const pairs: [string, () => Promise<void>, () => Promise<void>][] = [
    [
      'read 1 KB',
      () => ours.call('file_read', { path: 'small.txt' }),
      () => peer.call('read_text_file', { path: at('small.txt') }),
    ],
    [
      'write 1 KB',
      () => ours.call('file_write', { path: 'a.out', content }),
      () => peer.call('write_file', { path: at('b.out'), content }),
    ],
    ['edit one line of 10,000', editOurs(ours), editPeer(peer, at('peer.txt'))],
  ];
  const tables = [];
  const budgets = [];
  for (const [what, mine, theirs] of pairs) {
    const cases: Case[] = [
      { name: `${what}: ${PEER}`, run: inSequence(theirs) },
      { name: `${what}: ${OURS}`, run: inSequence(mine) },
    ];
    const compared = await compare(cases, plan);
    tables.push(tableOf(compared, { title: what, peers: [`${what}: ${PEER}`], names: [...compared.cases.keys()] }));
    const wanted = { 'read 1 KB': 1.8, 'write 1 KB': 1.3, 'edit one line of 10,000': 2.5 }[what] ?? 1;
    budgets.push({
      name: `${what}, times faster than the ${PEER}`,
      atLeast: wanted,
      unit: 'x',
      ...timesFaster(compared, `${what}: ${OURS}`, `${what}: ${PEER}`),
    });
  }
  return { tables, budgets };
}

/** The same words there and back, for both. */
function swaps(): () => readonly [string, string] {
  let turn = 0;
  return () => (turn++ % 2 === 0 ? ['line 5000 of', 'line 5ooo of'] : ['line 5ooo of', 'line 5000 of']);
}

function editOurs(server: ToolServer): () => Promise<void> {
  const next = swaps();
  return () => {
    const [old, changed] = next();
    return server.call('file_edit', { path: 'ours.txt', old, new: changed });
  };
}

function editPeer(server: ToolServer, path: string): () => Promise<void> {
  const next = swaps();
  return () => {
    const [oldText, newText] = next();
    return server.call('edit_file', { path, edits: [{ oldText, newText }] });
  };
}

async function compareSearch(session: Session, workspace: string, options: GroupOptions) {
  const plan = { ...callPlan(options), rounds: options.quick ? 2 : 10, samplesPerRound: options.quick ? 1 : 3 };
  const call = (tool: string, args: object) => async (): Promise<void> => {
    const { ok, errors } = await session.call(tool, args);
    if (!ok) throw new TypeError(`The benchmark was refused: ${tool}: ${errors[0]?.message}`);
  };
  const rg =
    (...args: string[]): (() => Promise<void>) =>
    async () => {
      spawnSync(rgPath, ['--no-config', ...args], { cwd: workspace, maxBuffer: 1 << 30 });
    };
  const grep = (pattern: string, max_results = 100_000) => call('grep', { pattern, case_sensitive: true, max_results });
  const cases: Case[] = [
    { name: 'rg --files', run: inSequence(rg('--files')) },
    { name: 'fs_list, everything', run: inSequence(call('fs_list', { glob: '**', max_results: 50_000 })) },
    { name: 'rg absent', run: inSequence(rg('-n', '--column', 'zzz_no_such_text', '.')) },
    { name: 'grep absent', run: inSequence(grep('zzz_no_such_text')) },
    { name: 'rg rare', run: inSequence(rg('-n', '--column', 'rareNeedle', '.')) },
    { name: 'grep rare', run: inSequence(grep('rareNeedle')) },
    { name: 'rg 40,000 matches', run: inSequence(rg('-n', '--column', 'import', '.')) },
    { name: 'grep 40,000 matches', run: inSequence(grep('import')) },
    { name: 'grep stopped at 1,000', run: inSequence(grep('import', 1000)) },
  ];
  const compared = await compare(cases, plan);
  const stopped = perRound(compared, (micros) => micros('grep stopped at 1,000') / 1000);
  return {
    tables: [
      tableOf(compared, {
        title: 'List and search, 20,000 files',
        peers: ['rg --files', 'rg absent'],
        names: [...compared.cases.keys()],
      }),
    ],
    budgets: [
      {
        name: 'fs_list cold, times faster than rg --files',
        atLeast: 2,
        unit: 'x',
        ...timesFaster(compared, 'fs_list, everything', 'rg --files'),
      },
      { name: 'grep absent against rg', atMost: 1.1, unit: 'x', ...timesAs(compared, 'grep absent', 'rg absent') },
      { name: 'grep rare against rg', atMost: 1.1, unit: 'x', ...timesAs(compared, 'grep rare', 'rg rare') },
      {
        name: 'grep 40,000 matches against rg',
        atMost: 1.3,
        unit: 'x',
        ...timesAs(compared, 'grep 40,000 matches', 'rg 40,000 matches'),
      },
      { name: 'grep stopped at 1,000 results', atMost: 30, unit: 'ms', ...stopped },
    ],
  };
}
