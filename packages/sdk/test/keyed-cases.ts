/** One or more calls for every tool that changes something, with a second writer who touches the same things. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@tool-runtime/protocol';
import { sha256Hex } from '../src/platform/digest.ts';
import { openRepository, type TestRepository } from './git-repository.ts';

export interface KeyedCase {
  readonly name: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly registry?: string;
  /** `folder`: an empty workspace; `beside` is a folder of its own next to it. */
  prepare(folder: string, beside: string): void;
  /** What somebody else does to the same things meanwhile. */
  interfere(folder: string): void;
  /** Somebody else takes the effect back, so that the content is as before. */
  takeBack?(folder: string): void;
  /**
   * `compared`: a retry finds out what became of the call. `before`: only that it did not happen. `unknown`: nothing, so
   * that it must not run again.
   */
  readonly outcome: 'compared' | 'before' | 'unknown';
  readonly first?: { readonly tool: string; readonly args: JsonObject };
  /** What it acts on ends with the process. */
  readonly diesWithProcess?: true;
}

function put(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const OLD = 'old\n';
const withOld = (folder: string) => put(folder, 'a.txt', OLD);
const others = (folder: string) => put(folder, 'a.txt', 'of somebody else\n');
const compared = { outcome: 'compared' } as const;
const existing = { ...compared, prepare: withOld, interfere: others, takeBack: withOld };

const FILES: readonly KeyedCase[] = [
  { name: 'file_write', tool: 'file_write', args: { path: 'a.txt', content: 'new\n' }, ...existing },
  {
    name: 'file_write with a mode',
    tool: 'file_write',
    args: { path: 'a.txt', content: OLD, mode_octal: '0755' },
    ...existing,
    takeBack: (folder) => chmodSync(join(folder, 'a.txt'), 0o644),
  },
  {
    name: 'file_write of a new file',
    tool: 'file_write',
    args: { path: 'deep/new/a.txt', content: 'new\n' },
    ...compared,
    prepare: () => {},
    interfere: (folder) => put(folder, 'deep/new/a.txt', 'of somebody else\n'),
  },
  {
    name: 'file_write that appends',
    tool: 'file_write',
    args: { path: 'a.txt', content: 'more\n', append: true },
    ...existing,
  },
  {
    name: 'file_write on a condition',
    tool: 'file_write',
    args: { path: 'a.txt', content: 'new\n', expected_sha256: sha256Hex(OLD) },
    ...existing,
  },
  {
    name: 'file_write that only creates',
    tool: 'file_write',
    args: { path: 'b.txt', content: 'new\n', create_only: true },
    ...compared,
    prepare: withOld,
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
  },
  {
    name: 'file_patch',
    tool: 'file_patch',
    args: { path: 'a.txt', unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n old\n+new\n' },
    ...existing,
  },
  {
    name: 'file_patch that deletes',
    tool: 'file_patch',
    args: { path: 'a.txt', unified_diff: '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n' },
    ...existing,
  },
  { name: 'fs_delete', tool: 'fs_delete', args: { path: 'a.txt' }, ...existing },
  {
    name: 'fs_delete of a folder',
    tool: 'fs_delete',
    args: { path: 'd', recursive: true },
    ...compared,
    prepare: (folder) => put(folder, 'd/e/a.txt', OLD),
    interfere: (folder) => put(folder, 'd/e/b.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_move',
    tool: 'fs_move',
    args: { src: 'a.txt', dst: 'b.txt' },
    ...compared,
    prepare: withOld,
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_move of a folder over another',
    tool: 'fs_move',
    args: { src: 'd', dst: 'e', overwrite: true },
    ...compared,
    prepare(folder) {
      put(folder, 'd/f/a.txt', OLD);
      put(folder, 'e/b.txt', 'replaced\n');
    },
    interfere: (folder) => put(folder, 'e/f/c.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_copy',
    tool: 'fs_copy',
    args: { src: 'a.txt', dst: 'b.txt', overwrite: true, preserve_mode: false },
    ...compared,
    prepare(folder) {
      withOld(folder);
      chmodSync(join(folder, 'a.txt'), 0o700);
      put(folder, 'b.txt', 'replaced\n');
    },
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
    takeBack: (folder) => put(folder, 'b.txt', 'replaced\n'),
  },
  {
    name: 'fs_copy of a folder',
    tool: 'fs_copy',
    args: { src: 'd', dst: 'e' },
    ...compared,
    prepare: (folder) => put(folder, 'd/f/a.txt', OLD),
    interfere: (folder) => put(folder, 'e/f/a.txt', 'of somebody else\n'),
  },
];

function unborn(folder: string, beside: string): TestRepository {
  const opened = openRepository(folder, beside);
  opened.git('init', '--quiet', '--initial-branch=main');
  opened.git('config', 'user.name', 'Ada Tester');
  opened.git('config', 'user.email', 'ada@example.org');
  return opened;
}

function repository(folder: string, beside: string): TestRepository {
  const opened = unborn(folder, beside);
  opened.commit({ 'a.txt': OLD }, 'chore: begin');
  return opened;
}

const inRepository = (folder: string) => openRepository(folder, dirname(folder));
const commitMore = (folder: string) => void inRepository(folder).commit({ 'other.txt': 'other\n' }, 'chore: other');

function staged(folder: string, beside: string): void {
  const opened = repository(folder, beside);
  opened.write({ 'a.txt': 'new\n' });
  opened.git('add', 'a.txt');
}

/** Branches that disagree about a.txt. */
function disagreeing(folder: string, beside: string): TestRepository {
  const opened = repository(folder, beside);
  opened.git('switch', '--quiet', '-c', 'side');
  opened.commit({ 'a.txt': 'side\n' }, 'feat: side');
  opened.git('switch', '--quiet', 'main');
  opened.commit({ 'a.txt': 'main\n' }, 'feat: main');
  return opened;
}

function withSide(folder: string, beside: string): TestRepository {
  const opened = repository(folder, beside);
  opened.git('switch', '--quiet', '-c', 'side');
  opened.commit({ 'side.txt': 'side\n' }, 'feat: side');
  opened.git('switch', '--quiet', 'main');
  opened.commit({ 'main.txt': 'main\n' }, 'feat: main');
  return opened;
}

function withOrigin(folder: string, beside: string): TestRepository {
  const opened = repository(folder, beside);
  const bare = join(beside, 'remote.git');
  opened.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
  opened.git('remote', 'add', 'origin', bare);
  opened.git('push', '--quiet', '--set-upstream', 'origin', 'main');
  return opened;
}

/** The remote has a commit that is not here. */
function behindOrigin(folder: string, beside: string): void {
  const opened = withOrigin(folder, beside);
  opened.commit({ 'far.txt': 'far\n' }, 'feat: far');
  opened.git('push', '--quiet', 'origin', 'main');
  opened.git('reset', '--quiet', '--hard', 'HEAD~1');
  opened.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}

const unknown = { outcome: 'unknown', interfere: commitMore } as const;
const NETWORK = 'git:\n  allow_push: true\n';

const GIT: readonly KeyedCase[] = [
  {
    name: 'git_commit',
    tool: 'git_commit',
    args: { message: 'feat: new\n\n\nwith  a body  \n' },
    ...compared,
    prepare: staged,
    interfere: commitMore,
    takeBack: (folder) => void inRepository(folder).git('reset', '--quiet', '--soft', 'HEAD~1'),
  },
  {
    name: 'git_commit, the first',
    tool: 'git_commit',
    args: { message: 'feat: first', signoff: false },
    ...compared,
    prepare(folder, beside) {
      const opened = unborn(folder, beside);
      opened.write({ 'a.txt': 'new\n', 'd/b.txt': { text: 'run\n', mode: 0o755 }, link: { link: 'a.txt' } });
      opened.git('add', '.');
    },
    interfere: commitMore,
  },
  {
    name: 'git_branch that creates',
    tool: 'git_branch',
    args: { action: 'create', name: 'topic' },
    ...compared,
    prepare: (folder, beside) => void repository(folder, beside).commit({ 'b.txt': 'b\n' }),
    interfere: (folder) => void inRepository(folder).git('branch', '--force', 'topic', 'HEAD~1'),
  },
  {
    name: 'git_branch that deletes',
    tool: 'git_branch',
    args: { action: 'delete', name: 'topic' },
    ...compared,
    prepare: (folder, beside) => void repository(folder, beside).git('branch', 'topic'),
    interfere(folder) {
      commitMore(folder);
      inRepository(folder).git('branch', '--force', 'topic', 'HEAD');
    },
    takeBack: (folder) => void inRepository(folder).git('branch', 'topic'),
  },
  {
    name: 'git_branch that renames',
    tool: 'git_branch',
    args: { action: 'rename', new_name: 'trunk' },
    ...compared,
    prepare: (folder, beside) => void repository(folder, beside).git('branch', 'topic'),
    interfere: (folder) => commitMore(folder),
    takeBack: (folder) => void inRepository(folder).git('branch', '--move', 'main'),
  },
  {
    name: 'git_add',
    tool: 'git_add',
    args: { paths: ['.'] },
    outcome: 'before',
    prepare: (folder, beside) => repository(folder, beside).write({ 'a.txt': 'new\n', 'b.txt': 'b\n' }),
    interfere(folder) {
      put(folder, 'c.txt', 'other\n');
      inRepository(folder).git('add', 'c.txt');
    },
  },
  {
    name: 'git_abort',
    tool: 'git_abort',
    args: {},
    ...unknown,
    prepare: (folder, beside) => void disagreeing(folder, beside).gitCode('merge', 'side'),
    interfere: (folder) => put(folder, 'a.txt', 'resolved\n'),
  },
  {
    name: 'git_continue',
    tool: 'git_continue',
    args: {},
    ...unknown,
    prepare(folder, beside) {
      const opened = disagreeing(folder, beside);
      opened.gitCode('merge', 'side');
      opened.write({ 'a.txt': 'both\n' });
      opened.git('add', 'a.txt');
    },
  },
  {
    name: 'git_checkout',
    tool: 'git_checkout',
    args: { target: 'side' },
    ...unknown,
    prepare: (folder, beside) => void withSide(folder, beside),
  },
  {
    name: 'git_merge',
    tool: 'git_merge',
    args: { branch: 'side' },
    ...unknown,
    prepare: (folder, beside) => void withSide(folder, beside),
  },
  {
    name: 'git_rebase',
    tool: 'git_rebase',
    args: { onto: 'side' },
    ...unknown,
    prepare: (folder, beside) => void withSide(folder, beside),
  },
  {
    name: 'git_restore',
    tool: 'git_restore',
    args: { paths: ['a.txt'] },
    ...unknown,
    prepare: (folder, beside) => repository(folder, beside).write({ 'a.txt': 'dirty\n' }),
    interfere: others,
  },
  {
    name: 'git_stash',
    tool: 'git_stash',
    args: { action: 'push' },
    ...unknown,
    prepare: (folder, beside) => repository(folder, beside).write({ 'a.txt': 'dirty\n' }),
    interfere: others,
  },
  {
    name: 'git_recover',
    tool: 'git_recover',
    args: {},
    ...unknown,
    prepare: (folder, beside) => repository(folder, beside).write({ 'a.txt': 'dirty\n' }),
    interfere: others,
    first: { tool: 'git_restore', args: { paths: ['a.txt'] } },
  },
  {
    name: 'git_fetch',
    tool: 'git_fetch',
    args: {},
    registry: NETWORK,
    ...unknown,
    prepare: behindOrigin,
  },
  { name: 'git_pull', tool: 'git_pull', args: {}, registry: NETWORK, ...unknown, prepare: behindOrigin },
  {
    name: 'git_push',
    tool: 'git_push',
    args: {},
    registry: NETWORK,
    ...unknown,
    prepare: (folder, beside) => void withOrigin(folder, beside).commit({ 'b.txt': 'b\n' }),
  },
];

const PROGRAMS = "shell_allow: ['^tee -a [a-z.]+$', '^cat$']\n";

const OTHER: readonly KeyedCase[] = [
  {
    name: 'shell_exec',
    tool: 'shell_exec',
    args: { cmd: 'tee -a a.txt', stdin: 'more\n' },
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
  },
  {
    name: 'job_input',
    tool: 'job_input',
    args: { text: 'more\n' },
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
    first: { tool: 'shell_exec', args: { cmd: 'cat', yield_after_ms: 0 } },
    diesWithProcess: true,
  },
  {
    name: 'job_stop',
    tool: 'job_stop',
    args: {},
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
    first: { tool: 'shell_exec', args: { cmd: 'cat', yield_after_ms: 0 } },
    diesWithProcess: true,
  },
  {
    name: 'validate that runs programs',
    tool: 'validate',
    args: {},
    registry: "commands:\n  build: 'true'\n",
    outcome: 'unknown',
    prepare: (folder, beside) => void repository(folder, beside),
    interfere: others,
  },
];

export const CASES = { files: FILES, git: GIT, other: OTHER } as const;

/** `url`: of a server that counts requests. */
export function curlCase(url: string, registry: string): KeyedCase {
  return {
    ...{ name: 'curl', tool: 'curl', args: { url, method: 'POST', body: 'once' }, registry },
    ...{ outcome: 'unknown', prepare: withOld, interfere: others },
  };
}
