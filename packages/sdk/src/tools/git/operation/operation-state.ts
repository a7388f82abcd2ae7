/** What git keeps in its folder while a merge, rebase, cherry-pick or revert is under way. */
import type { GitRepository } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { STATE_FOLDERS } from '../../../git/judge-state.ts';

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
