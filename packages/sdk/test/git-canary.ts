/**
 * A repository with a program in it that leaves a sign when it runs, and a script of calls that goes through every git tool.
 *
 * The sign is written to a named pipe that the test holds open: that works from a read-only view of the files too.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { AnyTool } from '../src/contracts/tool.ts';
import * as builtInTools from '../src/tools/catalog.ts';
import { createRepository, type GitRuntime, type TestRepository } from './git-repository.ts';

export interface CanaryScene extends TestRepository {
  /** Absolute path of the program. */
  readonly program: string;
  readonly remote: string;
  /** What the program wrote since the last look; empty when it did not run. */
  seen(): string;
}

/** `main` is ahead of its remote, `other` merges cleanly, `side` does not, `topic` can be rebased. */
export function createCanaryScene({ hooks = true }: { readonly hooks?: boolean } = {}): CanaryScene {
  const repository = createRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n' } });
  const remote = join(repository.beside, 'remote.git');
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', remote);
  repository.git('remote', 'add', 'origin', remote);
  repository.git('push', '--quiet', 'origin', 'main');
  for (const [branch, files] of Object.entries({
    other: { 'other.txt': 'other\n' },
    side: { 'a.txt': 'side\n' },
    topic: { 'topic.txt': 'topic\n' },
  })) {
    repository.git('switch', '--quiet', '-c', branch, 'main');
    repository.commit(files, `feat: ${branch}`);
  }
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'a.txt': 'main\n' }, 'feat: main');
  const { program, seen, close } = plantProgram(repository);
  if (hooks) for (const gitDir of [repository.path('.git'), remote]) plantHooks(gitDir, program);
  return {
    ...repository,
    program,
    remote,
    seen,
    dispose() {
      close();
      repository.dispose();
    },
  };
}

function plantProgram(repository: TestRepository) {
  mkdirSync(repository.path('evil'));
  const [program, pipe] = [repository.path('evil/run.sh'), repository.path('evil/pipe')];
  execFileSync('mkfifo', [pipe]);
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" > '${pipe}'\nexit 1\n`);
  chmodSync(program, 0o755);
  repository.write({ '.git/info/exclude': 'evil\n' });
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(64 * 1024);
  const seen = (): string => {
    try {
      return buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch {
      return '';
    }
  };
  return { program, seen, close: () => closeSync(fd) };
}

const HOOKS =
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite post-index-change fsmonitor-watchman';

function plantHooks(gitDir: string, program: string): void {
  mkdirSync(join(gitDir, 'hooks'), { recursive: true });
  for (const hook of HOOKS.split(' ')) {
    writeFileSync(join(gitDir, 'hooks', hook), `#!/bin/sh\nexec '${program}' hook ${hook}\n`, { mode: 0o755 });
  }
}

type Step = readonly [tool: string, args: object] | ((repository: TestRepository) => void);

const STEPS: readonly Step[] = [
  ['git_status', {}],
  ['git_log', { max: 5 }],
  ['git_show', {}],
  ['git_blame', { path: 'a.txt' }],
  ['git_fetch', { prune: true, tags: true }],
  ({ write }) => write({ 'b.txt': 'changed\n', 'new.txt': 'new\n' }),
  ['git_diff', {}],
  ['git_stash', { action: 'push' }],
  ['git_stash', { action: 'list' }],
  ['git_stash', { action: 'pop' }],
  ['git_restore', { paths: ['b.txt'] }],
  ['git_add', { paths: ['new.txt'] }],
  ['git_commit', { message: 'feat: new' }],
  ['git_branch', { action: 'create', name: 'made' }],
  ['git_checkout', { target: 'made' }],
  ['git_checkout', { target: 'main' }],
  ['git_merge', { branch: 'other' }],
  ['git_rebase', { onto: 'main', branch: 'topic' }],
  ['git_checkout', { target: 'main' }],
  ['git_pull', {}],
  ['git_push', {}],
  ['git_merge', { branch: 'side' }],
  ['git_conflicts', {}],
  ['git_abort', {}],
  ['git_merge', { branch: 'side' }],
  ({ write }) => write({ 'a.txt': 'main\nside\n' }),
  ['git_add', { paths: ['a.txt'] }],
  ['git_continue', {}],
  ['git_recover', { list: true }],
];

export interface Played {
  readonly tool: string;
  readonly response: ToolResponse;
}

/** Goes through every git tool of the catalog. */
export async function playScene(repository: TestRepository, runtime: GitRuntime): Promise<readonly Played[]> {
  const named = new Set(STEPS.flatMap((step) => (typeof step === 'function' ? [] : [step[0]])));
  const git = Object.values(builtInTools as Record<string, AnyTool>).filter(({ category }) => category === 'git');
  assert.deepEqual(
    git.map(({ name }) => name).filter((name) => !named.has(name)),
    [],
    'every git tool has a step',
  );
  const played: Played[] = [];
  for (const step of STEPS) {
    if (typeof step === 'function') step(repository);
    else played.push({ tool: step[0], response: await runtime.ask(...step) });
  }
  return played;
}

/** What the script must come to: both sides of every merge, nothing dropped, the same at the remote. */
export function assertScenePlayed(scene: CanaryScene, played: readonly Played[]): void {
  const failed = played.filter(({ response }) => !response.ok);
  assert.deepEqual(
    failed.map(({ tool, response }) => `${tool}: ${JSON.stringify(response.errors)}`),
    [],
  );
  const tree = scene.git('ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n');
  assert.deepEqual(tree, ['a.txt', 'b.txt', 'c.txt', 'new.txt', 'other.txt']);
  assert.equal(scene.git('show', 'HEAD:a.txt'), 'main\nside\n');
  assert.equal(scene.git('show', 'HEAD:other.txt'), 'other\n');
  assert.equal(scene.git('show', 'topic:topic.txt'), 'topic\n');
  assert.equal(scene.git('rev-list', '--count', 'main..topic').trim(), '1');
  const pushed = scene.git('--git-dir', scene.remote, 'ls-tree', '--name-only', 'main').trim().split('\n');
  assert.deepEqual(pushed, tree);
  assert.deepEqual(readdirSync(scene.path('evil')).sort(), ['pipe', 'run.sh']);
}
