/**
 * Puts everything back as a recovery point has it: HEAD and its branch, tracked files, raw files and deletions, the index
 * byte for byte, the operation that was under way. Killed half-way it can be started again.
 */
import type { ChangedFile, GitRepository } from '../../../contracts/git.ts';
import { emptyTree } from '../../../git/empty-tree.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { clearOperationState } from '../operation/operation-state.ts';
import { readStashes } from '../stash/read-stashes.ts';
import { putFiles, removeFiles } from './put-files.ts';
import type { RawPath } from './raw-path.ts';
import { type RecoveryPoint, readStored } from './read-recovery.ts';
import type { RecoveryContext } from './save-recovery.ts';

export interface RestoreOptions {
  /** Files the interrupted verb may have begun: taken away unless the point has them. Raw. */
  readonly leftovers?: readonly RawPath[];
}

export async function restoreRecovery(
  context: RecoveryContext,
  point: RecoveryPoint,
  { leftovers = [] }: RestoreOptions = {},
): Promise<void> {
  const { git } = context;
  await removeFiles(context, leftovers);
  // Before git looks at it: what is given up here may be just what cannot be trusted.
  await clearOperationState(git);
  await restoreHead(git, point);
  await clearOperationState(git);
  await removeFiles(context, point.deleted);
  await putFiles(context, point.files);
  await restoreIndex(git, point);
  for await (const { blob, bytes } of readStored(git, point.state)) await git.files.write(blob.path, bytes);
  await restoreStashes(git, point);
}

async function restoreHead(git: GitRepository, { note }: RecoveryPoint): Promise<void> {
  const { head, branch, refs } = note;
  const updates = Object.entries(refs).filter(([ref]) => ref !== branch);
  if (updates.length > 0) {
    const stdin = updates.map(([ref, hash]) => `update ${ref}\0${hash}\0\0`).join('');
    await git.run({ words: ['update-ref', '--stdin', '-z'], access: 'write', stdin });
  }
  if (branch !== null) await git.run({ words: ['symbolic-ref', 'HEAD', branch], access: 'write' });
  else if (head !== null) await git.run({ words: ['update-ref', '--no-deref', 'HEAD', head], access: 'write' });
  if (head !== null) {
    await git.run({ words: ['reset', '--hard', '--quiet', head, '--'], access: 'write' });
    return;
  }
  if (branch !== null) await git.run({ words: ['update-ref', '-d', branch], access: 'write' });
  const nothing = emptyTree(await git.config());
  await git.run({ words: ['read-tree', '--reset', '-u', nothing], access: 'write' });
}

async function restoreIndex(git: GitRepository, { index, bases }: RecoveryPoint): Promise<void> {
  for await (const { blob, bytes } of readStored(git, bases)) {
    if ((await git.files.read(blob.path)) === undefined) await git.files.write(blob.path, bytes);
  }
  if (index === undefined) {
    await git.files.remove('index');
    return;
  }
  for await (const { bytes } of readStored(git, [index])) await git.files.replace('index', bytes);
}

/** Stashes made since stay; those that went are on top again, in their order. */
async function restoreStashes(git: GitRepository, { note }: RecoveryPoint): Promise<void> {
  if (note.stashes.length === 0) return;
  const present = new Set((await readStashes(git)).map(({ hash }) => hash));
  for (const { hash, message } of note.stashes.toReversed()) {
    if (present.has(hash)) continue;
    await git.run({ words: ['stash', 'store', '--quiet', `--message=${message}`, hash], access: 'write' });
  }
}

/** What going back to the point will write over although no index has it: to be saved first. Raw. */
export async function pathsInDanger(
  git: GitRepository,
  point: RecoveryPoint,
  begun: readonly ChangedFile[],
): Promise<{ readonly paths: readonly RawPath[]; readonly leftovers: readonly ChangedFile[] }> {
  const from = point.note.head ?? emptyTree(await git.config());
  const { stdout } = await git.run({
    words: ['diff-index', '--cached', '-z', '--name-status', '--no-renames', from, '--'],
    access: 'read',
  });
  const fields = stdout.toString('latin1').split('\0');
  const missing = fields.filter((_, at) => fields[at - 1] === 'D' && at % 2 === 1);
  const known = new Set(fields.filter((_, at) => at % 2 === 1 && fields[at - 1] !== 'D'));
  const saved = new Set(point.files.map(({ path }) => path));
  const leftovers = begun.filter(({ kind, path }) => kind === 'added' && !known.has(path) && !saved.has(path));
  const paths = new Set([...missing, ...saved, ...point.deleted, ...leftovers.map(({ path }) => path)]);
  return { paths: [...paths], leftovers };
}

/** Throws E_GIT when the branch to go back to is at work in another work tree. */
export async function requireFreeBranch(git: GitRepository, branch: string | null, current: string | null) {
  if (branch === null || branch === current) return;
  const { stdout } = await git.run({ words: ['for-each-ref', '--format=%(worktreepath)', branch], access: 'read' });
  const place = stdout.toString('utf8').trim();
  if (place === '') return;
  throw gitFailure(`Branch is checked out in another work tree: ${branch}`, {
    path: 'recovery',
    reason: 'branch_in_use',
    next: 'switch that work tree to another branch first',
  });
}
