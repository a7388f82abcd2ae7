/** What git keeps in its folder while a merge, rebase, cherry-pick or revert is under way. */
import type { ToolError } from '@tool-runtime/protocol';
import type { GitOutput, GitRepository } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { STATE_FOLDERS } from '../../git/judge-state.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { toShown } from './recovery/raw-path.ts';
import type { SavedRecovery } from './recovery/save-recovery.ts';

const STATE_FILES: readonly string[] = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'MERGE_RR',
  'MERGE_AUTOSTASH',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'AUTO_MERGE',
  'ORIG_HEAD',
];

export interface StateFile {
  /** Relative to the git folder. */
  readonly name: string;
  readonly bytes: Buffer;
}

export async function readOperationState({ files }: Pick<GitRepository, 'files'>): Promise<readonly StateFile[]> {
  const below = await Promise.all(STATE_FOLDERS.map((folder) => files.list(folder)));
  const found = await Promise.all(
    [...STATE_FILES, ...below.flat()].map(async (name) => ({ name, bytes: await files.read(name) })),
  );
  return found.flatMap(({ name, bytes }) => (bytes === undefined ? [] : [{ name, bytes }]));
}

/** Afterwards nothing is under way, and nothing else has changed. */
export async function clearOperationState({ files }: Pick<GitRepository, 'files'>): Promise<void> {
  for (const name of [...STATE_FILES, ...STATE_FOLDERS]) await files.remove(name);
}

/** Whether the name is one of those above: what is kept in a recovery point may have been put there by another program. */
export function isStateName(name: string): boolean {
  if (STATE_FILES.includes(name)) return true;
  const [folder = '', ...rest] = name.split('/');
  const isInside = rest.length > 0 && rest.every((part) => part !== '' && part !== '.' && part !== '..');
  return STATE_FOLDERS.includes(folder) && isInside;
}

/** Commits the operation still needs. */
export function commitsOf(state: readonly StateFile[]): readonly string[] {
  const naming =
    /^(?:MERGE_HEAD|MERGE_AUTOSTASH|CHERRY_PICK_HEAD|REVERT_HEAD|rebase-(?:merge|apply)\/(?:orig-head|onto|autostash))$/;
  return state
    .filter(({ name }) => naming.test(name))
    .flatMap(({ bytes }) => bytes.toString('latin1').match(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/gm) ?? []);
}

/** The branch a rebase will move when it is over, and where it has to stand until then. */
export function branchOf(state: readonly StateFile[]): Readonly<Record<string, string>> {
  const text = (name: RegExp) =>
    state
      .find((file) => name.test(file.name))
      ?.bytes.toString('utf8')
      .trim() ?? '';
  const [name, tip] = [text(/^rebase-\w+\/head-name$/), text(/^rebase-\w+\/orig-head$/)];
  return /^refs\/heads\/./.test(name) && /^[0-9a-f]{40,64}$/.test(tip) ? { [name]: tip } : {};
}

export type Operation = 'merge' | 'rebase' | 'cherry-pick' | 'revert';

/** Throws E_GIT when nothing is under way, or something these tools cannot finish. */
export function operationUnderWay(state: readonly StateFile[]): Operation {
  const has = (name: string) => state.some((file) => file.name === name);
  if (has('rebase-apply/applying')) {
    throw gitFailure('Patches are being applied (git am)', {
      reason: 'am_in_progress',
      next: 'finish it where it was started, with git am --continue or --abort',
    });
  }
  if (state.some(({ name }) => name.startsWith('rebase-'))) return 'rebase';
  if (has('CHERRY_PICK_HEAD')) return 'cherry-pick';
  if (has('REVERT_HEAD')) return 'revert';
  const todo = state.find(({ name }) => name === 'sequencer/todo')?.bytes.toString('utf8') ?? '';
  if (todo !== '') return /^\s*(?:revert|r)\s/.test(todo) ? 'revert' : 'cherry-pick';
  if (has('MERGE_HEAD')) return 'merge';
  throw gitFailure('No merge, rebase, cherry-pick or revert is under way', {
    reason: 'nothing_in_progress',
    next: 'check with git_status what was changed',
  });
}

interface Refusal {
  /** Begins the message: "Git did not …". */
  readonly what: string;
  readonly next: string;
  readonly path?: string;
}

/** A verb git itself did not carry out: its own words, and the files that are in question where we know them. */
export function gitRefused({ what, next, path }: Refusal, output: GitOutput, saved: SavedRecovery): ToolError {
  const said = output.stderr.trim();
  const paths = changedAndTouched(saved);
  return gitFailure(`${what}: ${firstComplaint(said)}`, {
    ...(path === undefined ? {} : { path }),
    reason: paths.length > 0 ? 'would_overwrite' : 'git_failed',
    next: paths.length > 0 ? 'commit the changed files, or put them aside with git_stash' : next,
    details: {
      exit_code: output.code,
      stderr: said.slice(0, 2000),
      recovery: saved.ref,
      ...(paths.length > 0 ? { paths } : {}),
    },
  });
}

const SHOWN = 20;

/** Git refuses to write over what is not committed. */
function changedAndTouched({ dirty, touched }: SavedRecovery): readonly string[] {
  const changing = new Set(touched.map(({ path }) => path));
  return dirty.entries
    .filter(({ path }) => changing.has(path))
    .slice(0, SHOWN)
    .map(({ path }) => toShown(path));
}

function firstComplaint(said: string): string {
  const lines = said.split('\n');
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0] ?? '';
  return line.replace(/^(?:fatal|error): /, '').slice(0, 300) || 'no reason given';
}

interface Head {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Without refs/heads/; null when detached. */
  readonly branch: string | null;
}

/** Where HEAD is now, and which files are in conflict. */
export async function readHead(git: GitRepository): Promise<Head> {
  const [[head], name] = await Promise.all([
    findObjects(git, ['HEAD']),
    git.run({ words: ['symbolic-ref', '--quiet', 'HEAD'], access: 'read', accept: [0, 1] }),
  ]);
  return { head: head ?? null, branch: name.code === 0 ? shortBranch(name.stdout.toString('utf8').trim()) : null };
}

export function shortBranch(branch: string): string;
export function shortBranch(branch: string | null): string | null;
export function shortBranch(branch: string | null): string | null {
  return branch?.replace(/^refs\/heads\//, '') ?? null;
}

/** Sorted, each once. */
export async function unmergedPaths(git: GitRepository): Promise<readonly string[]> {
  const { stdout } = await git.run({ words: ['ls-files', '--unmerged', '-z'], access: 'read' });
  const records = stdout.toString('latin1').split('\0').filter(Boolean);
  return [...new Set(records.map((record) => toShown(record.slice(record.indexOf('\t') + 1))))];
}

/** Conflicts are not an error, but the caller must see them. */
export function warnOfConflicts({ warn }: Pick<ToolContext, 'warn'>, conflicts: readonly string[], what: string): void {
  warn({
    code: 'E_GIT',
    message: `Conflicts in ${conflicts.length} ${conflicts.length === 1 ? 'file' : 'files'}: ${what} is not finished`,
    details: {
      reason: 'conflicts',
      conflicts: conflicts.slice(0, SHOWN),
      next: 'resolve and add the files, then git_continue; or git_abort, or git_recover with the recovery of this call',
    },
  });
}
