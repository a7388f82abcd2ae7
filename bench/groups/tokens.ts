/**
 * What a model reads: tokens of the tool definitions and of the text of typical answers, ours beside the filesystem server's.
 *
 * A token is four bytes, the estimate that answers are cut by. Both servers also send structure for some answers; a
 * client shows a model either that or the text, so the text is counted.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BYTES_PER_TOKEN } from '../../packages/sdk/src/present/fit-parts.ts';
import type { Group, GroupReport } from '../group.ts';
import { type McpClient, startMcpClient } from '../mcp/mcp-client.ts';
import type { Table } from '../table.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const OURS = 'tool-runtime, profile core';
const PEER = 'filesystem server';

type Call = readonly [tool: string, args: object];

interface Work {
  readonly title: string;
  readonly ours: Call;
  /** Undefined: it has no such tool. */
  readonly peer?: (workspace: string) => Call;
}

const PATCH =
  '--- a/src/long.ts\n+++ b/src/long.ts\n@@ -100 +100 @@\n-const value99 = compute(99);\n+const value99 = 99;\n';

const WORKS: readonly Work[] = [
  {
    title: 'read a file of 200 lines',
    ours: ['file_read', { path: 'src/long.ts' }],
    peer: (workspace) => ['read_text_file', { path: join(workspace, 'src/long.ts') }],
  },
  {
    title: 'read the first 20 lines of it',
    ours: ['file_read', { path: 'src/long.ts', limit: 20 }],
    peer: (workspace) => ['read_text_file', { path: join(workspace, 'src/long.ts'), head: 20 }],
  },
  {
    title: 'list a folder of 100 files',
    ours: ['fs_list', { path: 'many' }],
    peer: (workspace) => ['list_directory', { path: join(workspace, 'many') }],
  },
  {
    title: 'find 10 of 100 files by name',
    ours: ['fs_list', { glob: 'many/*7.ts' }],
    peer: (workspace) => ['search_files', { path: workspace, pattern: 'many/*7.ts' }],
  },
  {
    title: 'change one line',
    ours: ['file_patch', { path: 'src/long.ts', unified_diff: PATCH }],
    peer: (workspace) => [
      'edit_file',
      {
        path: join(workspace, 'src/peer.ts'),
        edits: [{ oldText: 'const value99 = compute(99);', newText: 'const value99 = 99;' }],
      },
    ],
  },
  {
    title: 'write a file of 1 KB',
    ours: ['file_write', { path: 'new.txt', content: 'x'.repeat(1024) }],
    peer: (workspace) => ['write_file', { path: join(workspace, 'new-2.txt'), content: 'x'.repeat(1024) }],
  },
  {
    title: 'read a file that is not there',
    ours: ['file_read', { path: 'src/none.ts' }],
    peer: (workspace) => ['read_text_file', { path: join(workspace, 'src/none.ts') }],
  },
  { title: 'search: 50 hits in 5 files', ours: ['grep', { pattern: 'needle', glob: 'hits/**' }] },
  { title: 'difference of one file to the commit', ours: ['git_diff', {}] },
  { title: 'status of the repository', ours: ['git_status', {}] },
];

export const tokens: Group = {
  name: 'tokens',
  summary: 'what a model reads: definitions and ten typical answers, in tokens of four bytes',
  async run() {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-tokens-'));
    const workspace = join(scratch, 'workspace');
    fill(workspace);
    const clients = await openClients(scratch, workspace);
    try {
      return await count(clients, workspace);
    } finally {
      for (const client of Object.values(clients)) client.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

interface Clients {
  readonly ours: McpClient;
  readonly peer: McpClient;
}

async function openClients(scratch: string, workspace: string): Promise<Clients> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  const host = join(REPOSITORY, 'packages/host/bin/tool-runtime.js');
  const ours = [host, 'mcp', '--workspace', workspace, '--state', join(scratch, 'state')];
  const at = { cwd: workspace, family: '2025' } as const;
  return {
    ours: await startMcpClient({ ...at, args: ours }),
    peer: await startMcpClient({ ...at, args: [join(dirname(manifest), 'dist/index.js'), workspace] }),
  };
}

function fill(workspace: string): void {
  for (const folder of ['', 'src', 'many', 'hits']) mkdirSync(join(workspace, folder));
  const code = Array.from({ length: 200 }, (_, at) => `const value${at} = compute(${at});\n`).join('');
  for (const name of ['long.ts', 'peer.ts']) writeFileSync(join(workspace, 'src', name), code);
  for (let at = 0; at < 100; at++) writeFileSync(join(workspace, 'many', `file-${at}.ts`), '');
  const hits = Array.from({ length: 10 }, (_, at) => `  const needle${at} = find(haystack, ${at});\n`).join('');
  for (let at = 0; at < 5; at++) writeFileSync(join(workspace, 'hits', `file-${at}.ts`), hits);
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.org', ...words], { cwd: workspace });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'begin');
}

async function count({ ours, peer }: Clients, workspace: string): Promise<GroupReport> {
  const definitions = tableOf(
    'definitions of all listed tools',
    tokensOf(JSON.stringify((await resultOf(ours, 'tools/list', {})).tools)),
    tokensOf(JSON.stringify((await resultOf(peer, 'tools/list', {})).tools)),
  );
  const tables: Table[] = [definitions];
  for (const work of WORKS) {
    const own = await textTokens(ours, work.ours);
    tables.push(tableOf(work.title, own, work.peer && (await textTokens(peer, work.peer(workspace)))));
  }
  const compared = tables.slice(1).filter(({ peers }) => peers.length > 0);
  const sum = (name: string) =>
    compared
      .flatMap(({ rows }) => rows.filter((row) => row.name === name))
      .reduce((all, row) => all + row.medianMicros, 0);
  return {
    tables,
    budgets: [
      {
        name: 'definitions of profile core',
        atMost: 4000,
        unit: 'tokens',
        measured: definitions.rows[0]?.medianMicros ?? 0,
      },
      {
        name: 'answers of all calls that both have, against the filesystem server',
        atMost: 1.2,
        unit: 'x',
        measured: sum(OURS) / sum(PEER),
      },
    ],
  };
}

function tableOf(title: string, ours: number, peer: number | undefined): Table {
  const row = (name: string, count: number) => ({
    name,
    medianMicros: count,
    perSecond: 1,
    ratios: peer === undefined ? [] : [count / peer],
  });
  return {
    title,
    counts: 'tokens',
    peers: peer === undefined ? [] : [PEER],
    rows: [row(OURS, ours), ...(peer === undefined ? [] : [row(PEER, peer)])],
    ...(peer === undefined ? { note: 'the filesystem server has no such tool' } : {}),
  };
}

interface Result {
  readonly tools?: readonly object[];
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

async function resultOf(client: McpClient, method: string, params: object): Promise<Result> {
  const { result, error } = JSON.parse(await client.ask(method, params)) as { result?: Result; error?: object };
  if (result === undefined) throw new TypeError(`The benchmark was refused: ${method}: ${JSON.stringify(error)}`);
  return result;
}

async function textTokens(client: McpClient, [name, args]: Call): Promise<number> {
  const { content = [] } = await resultOf(client, 'tools/call', { name, arguments: args });
  return tokensOf(content.map(({ text = '' }) => text).join('\n'));
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
