/**
 * Code intelligence beside the `ast-grep` program: a full index of many files, the sync after one write, questions, and a
 * rename over a tree of 3,000 files.
 *
 * The corpus is the project's own TypeScript, copied often enough; both programs read the same files.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAst } from '@tool-runtime/ast';
import { createRuntime, type Session } from '@tool-runtime/sdk';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';
import type { Budget } from '../budget.ts';
import type { Group, GroupOptions } from '../group.ts';
import { type Case, compare, type Estimate, estimateOf, inSequence, microsOf, perRound } from '../measure.ts';
import { tableOf } from '../table.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export const ast: Group = {
  name: 'ast',
  summary: 'full index against the ast-grep program, sync after a write, questions, rename',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-ast-'));
    try {
      const corpus = makeCorpus(join(scratch, 'corpus'), options);
      const full = await fullIndex(corpus, scratch, options);
      const questions = await askQuestions(corpus.folder, scratch, options);
      const rename = await renameOnce(scratch, options);
      return { tables: questions.tables, budgets: [...full, ...questions.budgets, rename] };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

interface Corpus {
  readonly folder: string;
  readonly megabytes: number;
}

function makeCorpus(folder: string, { quick }: GroupOptions): Corpus {
  for (let copy = 0; copy < (quick ? 1 : 10); copy++) {
    for (const name of quick ? ['protocol'] : ['protocol', 'sdk', 'host']) {
      cpSync(join(ROOT, 'packages', name, 'src'), join(folder, `copy${copy}`, name), { recursive: true });
    }
  }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return { folder, megabytes: bytes / 1_000_000 };
}

interface Indexed {
  readonly ms: number;
  readonly megabytes: number;
}

/** In a process of its own and from the bundles, as users run it: no sources to strip, and no memory of earlier rounds. */
const INDEX_PROGRAM = `
  import { createAst } from '@tool-runtime/ast';
  import { createRuntime } from '@tool-runtime/sdk';
  const [workspace, state, runs] = process.argv.slice(1);
  const runtime = await createRuntime({ workspace, state, ast: createAst() });
  const session = await runtime.openSession();
  const indexed = [];
  for (let run = 0; run < Number(runs); run++) {
    const started = performance.now();
    const args = { paths: ['**/*.ts'], max_files: 50_000, incremental: run === 0 };
    const { ok, errors } = await session.call('ast_generate', args);
    if (!ok) throw new TypeError('The benchmark was refused: ' + errors[0]?.message);
    indexed.push({ ms: performance.now() - started, megabytes: process.memoryUsage().rss / 1_000_000 });
  }
  console.log(JSON.stringify(indexed));
  await runtime.close();`;

async function fullIndex(corpus: Corpus, scratch: string, options: GroupOptions): Promise<readonly Budget[]> {
  const rounds = options.quick ? 1 : 4;
  ensureBuilt();
  const own: Indexed[] = [];
  const peer: number[] = [];
  let again: Indexed | undefined;
  for (let round = 0; round < rounds; round++) {
    const [first, second] = await indexAlone(corpus.folder, join(scratch, `state-full-${round}`), round === 0 ? 2 : 1);
    if (first !== undefined) own.push(first);
    again ??= second;
    const started = performance.now();
    await outlineByPeer(corpus.folder);
    peer.push(performance.now() - started);
  }
  const speed = estimateOf(own.map(({ ms }) => corpus.megabytes / (ms / 1000)));
  const ratio = estimateOf(own.map(({ ms }, round) => ms / (peer[round] ?? Number.NaN)));
  const memory = estimateOf(own.map(({ megabytes }) => megabytes));
  return [
    { name: 'full index, two workers', atLeast: 5, unit: 'MB/s', ...speed },
    { name: 'full index against ast-grep outline', atMost: 2.2, unit: 'x', ...ratio },
    { name: 'memory of the process with the index', atMost: 300, unit: 'MB', ...memory },
    {
      name: 'memory after a second full index',
      atMost: 300,
      unit: 'MB',
      ...estimateOf([again?.megabytes ?? Number.NaN]),
    },
  ];
}

async function indexAlone(workspace: string, state: string, runs: number): Promise<readonly Indexed[]> {
  const words = ['--input-type=module', '--eval', INDEX_PROGRAM, workspace, state, String(runs)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: join(ROOT, 'bench') });
  return JSON.parse(stdout) as Indexed[];
}

/** The program itself: the package's own command first starts a Node that looks for it. */
const PEER = findPeer();

function findPeer(): string {
  const require = createRequire(import.meta.url);
  const { optionalDependencies = {} } = require('@ast-grep/cli/package.json') as {
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  };
  const names = Object.keys(optionalDependencies).filter((name) =>
    name.includes(`${process.platform}-${process.arch}`),
  );
  const folders = names.map((name) => join(ROOT, 'node_modules', name));
  return join(folders.find((folder) => existsSync(folder)) ?? join(ROOT, 'node_modules', '.bin'), 'ast-grep');
}

function outlineByPeer(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn(PEER, ['outline', '--json=stream', '.'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
      .once('error', reject)
      .once('close', () => resolve());
  });
}

async function askQuestions(folder: string, scratch: string, options: GroupOptions) {
  return withSession(folder, join(scratch, 'state-questions'), async (session) => {
    await call(session, 'ast_generate', { paths: ['**/*.ts'], max_files: 50_000 });
    const found = await call(session, 'ast_query', { where: { type: 'fn', exported: true }, limit: 1 });
    const [node] = (found as { nodes: { id: string }[] }).nodes;
    const sizes: [string, number][] = [
      ['8 KB', 8],
      ['65 KB', 65],
    ];
    const cases: Case[] = [
      { name: 'ast_query, 200 answers', run: inSequence(() => call(session, 'ast_query', { where: { type: 'fn' } })) },
      {
        name: 'ast_query by id',
        run: inSequence(() => call(session, 'ast_query', { where: {}, node_id: node?.id ?? '' })),
      },
      ...sizes.map(([label, kilobytes]) => writeCase(session, label, kilobytes)),
      { name: 'file_write of a text file', run: inSequence(() => writeText(session)) },
    ];
    const plan = { rounds: options.quick ? 1 : 8, samplesPerRound: 3, sampleMs: 2, warmUpMs: 2000, quietMs: 500 };
    const compared = await compare(cases, options.quick ? { ...plan, sampleMs: 0.05, warmUpMs: 0, quietMs: 0 } : plan);
    const sync = (label: string): Estimate =>
      perRound(
        compared,
        (micros) => (micros(`file_write of ${label} TypeScript`) - micros('file_write of a text file')) / 1000,
      );
    return {
      tables: [
        tableOf(compared, {
          title: 'Questions and writes',
          peers: ['file_write of a text file'],
          names: [...compared.cases.keys()],
        }),
      ],
      budgets: [
        {
          name: 'ast_query of 200 answers, whole call',
          atMost: 250,
          unit: 'µs',
          ...microsOf(compared, 'ast_query, 200 answers'),
        },
        { name: 'ast_query by id, whole call', atMost: 60, unit: 'µs', ...microsOf(compared, 'ast_query by id') },
        { name: 'sync after a write of 8 KB', atMost: 0.6, unit: 'ms', ...sync('8 KB') },
        { name: 'sync after a write of 65 KB', atMost: 2, unit: 'ms', ...sync('65 KB') },
      ],
    };
  });
}

/** The same file again and again with one line changed, so that its tree is kept. */
function writeCase(session: Session, label: string, kilobytes: number): Case {
  const source = readFileSync(join(ROOT, 'packages/sdk/src/runtime.ts'), 'utf8');
  const body = source
    .repeat(Math.ceil((kilobytes * 1024) / source.length))
    .slice(0, kilobytes * 1024)
    .replace(/[^\n]*$/, '');
  let edit = 0;
  const content = (): string => `export const edit = ${edit++};\n${body}`;
  return {
    name: `file_write of ${label} TypeScript`,
    run: inSequence(() => call(session, 'file_write', { path: `sync-${kilobytes}.ts`, content: content() })),
  };
}

function writeText(session: Session): Promise<unknown> {
  const content = `${performance.now()}\n${'x'.repeat(8 * 1024)}`;
  return call(session, 'file_write', { path: 'plain.txt', content });
}

/** 3,000 files, a third of which import the renamed name. */
async function renameOnce(scratch: string, { quick }: GroupOptions): Promise<Budget> {
  const folder = join(scratch, 'rename');
  mkdirSync(folder);
  const count = quick ? 30 : 3000;
  writeFileSync(join(folder, 'target.ts'), 'export function target(): number {\n  return 1;\n}\n');
  for (let n = 0; n < count; n++) {
    const uses =
      n % 3 === 0
        ? "import { target } from './target.ts';\nexport const value = target();\n"
        : 'export const value = 1;\n';
    writeFileSync(join(folder, `file${n}.ts`), uses);
  }
  const names = ['target', 'renamed', 'target', 'renamed', 'target', 'renamed'];
  const times = await withSession(folder, join(scratch, 'state-rename'), async (session) => {
    await call(session, 'ast_generate', {});
    const took: number[] = [];
    await call(session, 'ast_generate', { paths: ['**/*.ts'], max_files: 50_000 });
    for (const [round, name] of names.slice(0, quick ? 1 : -1).entries()) {
      const found = await call(session, 'ast_query', { where: { type: 'fn', name_like: name } });
      const [node] = (found as { nodes: { id: string }[] }).nodes;
      const started = performance.now();
      await call(session, 'ast_edit', {
        operation: 'rename_symbol',
        target_node_id: node?.id ?? '',
        new_name: names[round + 1] ?? '',
        server: 'never',
        confirm_large: true,
      });
      took.push(performance.now() - started);
    }
    return took;
  });
  return { name: `rename in ${count} files without a server`, atMost: 1200, unit: 'ms', ...estimateOf(times) };
}

async function withSession<T>(workspace: string, state: string, use: (session: Session) => Promise<T>): Promise<T> {
  const runtime = await createRuntime({ workspace, state, ast: createAst() });
  try {
    return await use(await runtime.openSession());
  } finally {
    await runtime.close();
  }
}

async function call(session: Session, tool: string, args: object): Promise<unknown> {
  const { ok, data, errors } = await session.call(tool, args);
  if (!ok) throw new TypeError(`The benchmark was refused: ${errors[0]?.message}`);
  return data;
}
