/**
 * Git through the runtime against the git program itself, on a repository of 20,000 files and 5,000 commits; the secrets
 * scan; and `validate` over a tree that has not changed.
 *
 * A governed call starts git in the sandbox. What the sandbox adds is measured beside it: a program that does nothing,
 * started in the same sandbox by hand.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Session } from '@tool-runtime/sdk';
import { createSecretScanner } from '../../packages/sdk/src/secrets/secret-scanner.ts';
import { callPlan, type Group, type GroupOptions } from '../group.ts';
import { makeLargeRepository } from '../large-repository.ts';
import { type Case, compare, type Estimate, estimateOf, inSequence, perRound } from '../measure.ts';
import { sandboxByHand } from '../sandbox-by-hand.ts';
import { tableOf } from '../table.ts';

export const git: Group = {
  name: 'git',
  summary: 'git tools against the git program, the secrets scan, validate of an unchanged tree',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-git-'));
    const workspace = join(scratch, 'workspace');
    const size = options.quick ? { files: 50, commits: 5 } : { files: 20_000, commits: 5_000 };
    await makeLargeRepository(workspace, size);
    const registry = { text: 'version: 1\nvalidators:\n  - rule: secrets.scan\n', file: 'bench' };
    const runtime = await createRuntime({ workspace, state: join(scratch, 'state'), registry });
    try {
      const session = await runtime.openSession();
      const sandbox = await sandboxByHand(workspace, join(scratch, 'sandbox'));
      const verbs = await compareVerbs({ session, workspace, sandbox }, options);
      const scan = await scanSpeed(options);
      const validate = await unchangedTree(session, options);
      return {
        tables: [...verbs.tables],
        budgets: [
          ...verbs.budgets,
          { name: 'secrets scan of source on one core', atLeast: 50, unit: 'MB/s', ...scan },
          { name: `validate of an unchanged tree, ${size.files} files`, atMost: 100, unit: 'ms', ...validate },
        ],
      };
    } finally {
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

interface Scene {
  readonly session: Session;
  readonly workspace: string;
  /** Runs /bin/true in the sandbox git is run in. */
  readonly sandbox: () => Promise<void>;
}

const SANDBOX = '/bin/true in the sandbox';
const COMMIT = 'git_add, git_commit with secrets.scan';

async function compareVerbs(scene: Scene, options: GroupOptions) {
  const { session, workspace, sandbox } = scene;
  let edit = 0;
  const edited = (): void => writeFileSync(join(workspace, 'dir0', 'file0.txt'), `edit ${edit++}\n`);
  const plain = (...words: string[]) => inSequence(() => plainGit(workspace, words));
  const governed = (tool: string, args: object) => inSequence(() => call(session, tool, args));
  const afterEdit = (run: () => Promise<unknown>) =>
    inSequence(() => {
      edited();
      return run();
    });
  const cases: Case[] = [
    { name: SANDBOX, run: inSequence(sandbox) },
    { name: 'git status', run: plain('status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all') },
    { name: 'git_status', run: governed('git_status', {}) },
    { name: 'git diff HEAD', run: plain('diff', 'HEAD') },
    { name: 'git_diff', run: governed('git_diff', {}) },
    { name: 'git add', run: afterEdit(() => plainGit(workspace, ['add', 'dir0/file0.txt'])) },
    { name: 'git_add', run: afterEdit(() => call(session, 'git_add', { paths: ['dir0/file0.txt'] })) },
    {
      name: 'git add, git commit',
      run: afterEdit(async () => {
        await plainGit(workspace, ['add', 'dir0/file0.txt']);
        await plainGit(workspace, ['commit', '-q', '--no-verify', '-m', 'chore: bench']);
      }),
    },
    {
      name: COMMIT,
      run: afterEdit(async () => {
        await call(session, 'git_add', { paths: ['dir0/file0.txt'] });
        await call(session, 'git_commit', { message: 'chore: bench' });
      }),
    },
  ];
  const plan = {
    ...callPlan(options),
    rounds: options.quick ? 1 : 8,
    samplesPerRound: options.quick ? 1 : 3,
    warmUpMs: 0,
  };
  const compared = await compare(cases, plan);
  const pairs: [string, string, number][] = [
    ['git_status', 'git status', 1.1],
    ['git_diff', 'git diff HEAD', 1.1],
    ['git_add', 'git add', 1.3],
    [COMMIT, 'git add, git commit', 1.3],
  ];
  return {
    tables: [
      tableOf(compared, {
        title: 'Git, 20,000 files and 5,000 commits',
        peers: ['git status', 'git diff HEAD', 'git add', 'git add, git commit'],
        names: [...compared.cases.keys()],
      }),
    ],
    budgets: pairs.map(([own, peer, atMost]) => ({
      name: `${own} against ${peer} plus one sandbox start`,
      atMost,
      unit: 'x',
      // Against the same command with what the sandbox costs added to it.
      ...perRound(compared, (micros) => micros(own) / (micros(peer) + micros(SANDBOX))),
    })),
  };
}

function plainGit(cwd: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', words, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    child.once('error', reject).once('close', () => resolve());
  });
}

async function call(session: Session, tool: string, args: object): Promise<void> {
  const { ok, errors } = await session.call(tool, args);
  if (!ok) throw new TypeError(`The benchmark was refused: ${errors[0]?.message}`);
}

/** The project's own sources, over and over. */
async function scanSpeed({ quick }: GroupOptions): Promise<Estimate> {
  const { readdirSync, readFileSync } = await import('node:fs');
  const root = join(import.meta.dirname, '..', '..', 'packages', 'sdk', 'src');
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const files = names.map((name) => ({ name, bytes: readFileSync(join(root, name)) }));
  const scanner = createSecretScanner({});
  const scanAll = async (): Promise<void> => {
    for (const file of files) await scanner.scan(file);
  };
  await scanAll();
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const speeds: number[] = [];
  for (let round = 0; round < (quick ? 1 : 9); round++) {
    const started = performance.now();
    await scanAll();
    speeds.push(bytes / 1_000_000 / ((performance.now() - started) / 1000));
  }
  return estimateOf(speeds);
}

async function unchangedTree(session: Session, { quick }: GroupOptions): Promise<Estimate> {
  await call(session, 'validate', {});
  const times: number[] = [];
  for (let round = 0; round < (quick ? 1 : 9); round++) {
    const started = performance.now();
    await call(session, 'validate', {});
    times.push(performance.now() - started);
  }
  return estimateOf(times);
}
