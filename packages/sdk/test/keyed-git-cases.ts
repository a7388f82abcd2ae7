/** Calls of every git tool that changes something. */
import { dirname, join } from 'node:path';
import { openRepository, type TestRepository } from './git-repository.ts';
import { type KeyedCase, OLD, others, put } from './keyed-case.ts';

function unborn(folder: string, beside: string): TestRepository {
  const opened = openRepository(folder, beside);
  opened.git('init', '--quiet', '--initial-branch=main');
  opened.git('config', 'user.name', 'Ada Tester');
  opened.git('config', 'user.email', 'ada@example.org');
  return opened;
}

export function repository(folder: string, beside: string): TestRepository {
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

const compared = { outcome: 'compared' } as const;

export const GIT_CASES: readonly KeyedCase[] = [
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
    first: [{ tool: 'git_restore', args: { paths: ['a.txt'] } }],
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
