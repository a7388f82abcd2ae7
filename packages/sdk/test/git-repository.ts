/**
 * Real repositories for tests of git tools, made by the real git without any user's configuration, and runtimes on them.
 *
 * Commits get dates one minute apart, so that orders by date are the order of making.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ErrorEntry, ToolResponse } from '@tool-runtime/protocol';
import type { AnyTool } from '../src/contracts/tool.ts';
import type { RuntimeOptions, SessionOptions } from '../src/runtime.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import * as builtInTools from '../src/tools/catalog.ts';

/** Path → content; null deletes it, `link` makes a symbolic link, `mode` an executable. */
export type FileSet = Readonly<
  Record<
    string,
    string | Uint8Array | null | { readonly link: string } | { readonly text: string; readonly mode: number }
  >
>;

export interface TestRepository {
  /** Absolute path of the work tree. */
  readonly folder: string;
  /** A folder beside the work tree, for other repositories, attackers and canaries. */
  readonly beside: string;
  /** Runs git in the work tree and answers what it printed; a failing git fails the test. */
  git(...words: readonly string[]): string;
  /** The same as bytes, with bytes on standard input. */
  gitBytes(words: readonly string[], stdin?: string | Uint8Array): Buffer;
  /** Exit code only, for commands that are meant to fail (a merge with conflicts). */
  gitCode(...words: readonly string[]): number;
  write(files: FileSet): void;
  /** Writes the files, stages everything, commits and answers the hash. */
  commit(files: FileSet, message?: string): string;
  path(name: string): string;
  dispose(): void;
}

export interface RepositoryOptions {
  /** Committed at once when given; otherwise HEAD is unborn. */
  readonly files?: FileSet;
  readonly objectFormat?: 'sha1' | 'sha256';
}

export function createRepository({ files, objectFormat = 'sha1' }: RepositoryOptions = {}): TestRepository {
  const beside = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-git-')));
  const folder = join(beside, 'work');
  mkdirSync(folder);
  const repository = openRepository(folder, beside);
  repository.git('init', '--quiet', '--initial-branch=main', `--object-format=${objectFormat}`);
  repository.git('config', 'user.name', 'Ada Tester');
  repository.git('config', 'user.email', 'ada@example.org');
  if (files !== undefined) repository.commit(files, 'chore: begin');
  return repository;
}

/** A second work tree or clone beside a repository; `folder` holds a repository already. */
export function openRepository(folder: string, beside: string): TestRepository {
  let minutes = 0;
  const run = (words: readonly string[], stdin?: string | Uint8Array): Buffer =>
    execFileSync('git', words, {
      cwd: folder,
      env: environment(minutes),
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['pipe', 'pipe', 'pipe'],
      input: stdin ?? '',
    });
  const write = (files: FileSet): void => {
    for (const [name, content] of Object.entries(files)) put(join(folder, name), content);
  };
  return {
    folder,
    beside,
    git: (...words) => run(words).toString('utf8'),
    gitBytes: run,
    gitCode: (...words) => spawnSync('git', words, { cwd: folder, env: environment(minutes) }).status ?? -1,
    write,
    commit(files, message = 'chore: change') {
      minutes++;
      write(files);
      run(['add', '--all']);
      run(['commit', '--quiet', '--allow-empty', '--file=-'], message);
      return run(['rev-parse', 'HEAD']).toString('utf8').trim();
    },
    path: (name) => join(folder, name),
    dispose: () => rmSync(beside, { recursive: true, force: true }),
  };
}

function put(path: string, content: FileSet[string]): void {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === 'string' || content instanceof Uint8Array) {
    writeFileSync(path, content);
    return;
  }
  rmSync(path, { recursive: true, force: true });
  if (content === null) return;
  if ('link' in content) symlinkSync(content.link, path);
  else writeFileSync(path, content.text);
  if ('mode' in content) chmodSync(path, content.mode);
}

const FIRST_DATE = 1_700_000_000;

function environment(minutes: number): Record<string, string> {
  const date = `${FIRST_DATE + minutes * 60} +0000`;
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_ALLOW_PROTOCOL: 'file',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
}

export interface GitRuntime extends ScratchRuntime {
  /** The answer of a call that must succeed. */
  call<Data>(tool: string, args?: object): Promise<Data>;
  /** The first error of a call that must fail. */
  refused(tool: string, args?: object): Promise<ErrorEntry>;
  /** Either way. */
  ask(tool: string, args?: object): Promise<ToolResponse>;
}

export interface GitRuntimeOptions extends Partial<Omit<RuntimeOptions, 'workspace' | 'registry'>> {
  /** Text of the operator's registry; by default `version: 1`. */
  readonly registry?: string;
  readonly session?: SessionOptions;
}

/** Tools the catalog lists already may be named too. `dispose` leaves the repository alone. */
export async function openGitRuntime(
  repository: Pick<TestRepository, 'folder'>,
  { tools = [], registry = 'version: 1\n', session = {}, ...options }: GitRuntimeOptions = {},
): Promise<GitRuntime> {
  const known = new Set(Object.values(builtInTools as Record<string, AnyTool>).map(({ name }) => name));
  const scratch = await openScratchRuntime(
    {
      ...options,
      workspace: repository.folder,
      registry: { file: 'ops.yaml', text: registry },
      tools: tools.filter(({ name }) => !known.has(name)),
    },
    session,
  );
  const ask = (tool: string, args: object = {}) => scratch.session.call(tool, args);
  return {
    ...scratch,
    workspace: repository.folder,
    ask,
    async call<Data>(tool: string, args?: object) {
      const response = await ask(tool, args);
      assert.ok(response.ok, `${tool}: ${JSON.stringify(response.errors)}`);
      return response.data as Data;
    },
    async refused(tool, args) {
      const response = await ask(tool, args);
      assert.ok(!response.ok, `${tool} answered: ${JSON.stringify(response.data)?.slice(0, 2000)}`);
      const [first] = response.errors;
      assert.ok(first !== undefined, 'a failed call has an error');
      return first;
    },
  };
}

/** Opens both, passes them on and cleans up afterwards. */
export async function withRepository(
  options: RepositoryOptions & { readonly tools?: readonly AnyTool[]; readonly registry?: string },
  use: (repository: TestRepository, runtime: GitRuntime) => Promise<void>,
): Promise<void> {
  const { tools = [], registry, ...made } = options;
  const repository = createRepository(made);
  try {
    const runtime = await openGitRuntime(repository, { tools, ...(registry === undefined ? {} : { registry }) });
    try {
      await use(repository, runtime);
    } finally {
      await runtime.dispose();
    }
  } finally {
    repository.dispose();
  }
}

/** What callers may write to smuggle something into git's words; `canary` is a file that must not appear. */
export function hostileWords(canary: string): readonly string[] {
  return [
    `--output=${canary}`,
    '-h',
    '--help',
    `--upload-pack=touch ${canary}`,
    `--exec=touch ${canary}`,
    `-c core.pager=touch ${canary}`,
    `$(touch ${canary})`,
    `; touch ${canary}`,
    `| touch ${canary}`,
    ':(exclude)x',
    ':!x',
    `ext::touch ${canary}`,
    'x\ny',
    'x\0y',
    '',
  ];
}
