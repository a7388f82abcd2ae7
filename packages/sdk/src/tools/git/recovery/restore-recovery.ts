/**
 * Puts everything back as a recovery point has it: HEAD and its branch, tracked files, raw files and deletions, the index
 * byte for byte, the operation that was under way. Killed half-way it can be started again.
 *
 * The point of a commit has no files. Those that are as the present HEAD has them become what the index of the point
 * holds, which after a mere commit they are already; those that were changed since stay.
 */
import type { ChangedFile, GitRepository } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { emptyTree } from '../../../git/resolve-revisions.ts';
import { clearOperationState } from '../operation-state.ts';
import { readStashes } from '../stashes.ts';
import { putFiles, removeFiles } from './put-files.ts';
import type { RawPath } from './raw-path.ts';
import { type RecoveryPoint, readStored } from './read-recovery.ts';
import type { RecoveryContext, SavedRecovery } from './save-recovery.ts';

export interface RestoreOptions {
  /** Files the interrupted verb may have begun: taken away unless the point has them. Raw. */
  readonly leftovers?: readonly RawPath[];
  /** What is there now, saved. */
  readonly present: Pick<SavedRecovery, 'dirty' | 'touched'>;
}

export async function restoreRecovery(
  context: RecoveryContext,
  point: RecoveryPoint,
  { leftovers = [], present }: RestoreOptions,
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
  if (point.indexTree !== undefined) await followIndex(context, present);
  for await (const { blob, bytes } of readStored(git, point.state)) await git.files.write(blob.path, bytes);
  await restoreStashes(git, point);
}

async function restoreHead(git: GitRepository, { note }: RecoveryPoint): Promise<void> {
  const { head, branch, refs, scope } = note;
  const updates = Object.entries(refs).filter(([ref]) => ref !== branch);
  if (updates.length > 0) {
    const stdin = updates.map(([ref, hash]) => `update ${ref}\0${hash}\0\0`).join('');
    await git.run({ words: ['update-ref', '--stdin', '-z'], access: 'write', stdin });
  }
  if (branch !== null) await git.run({ words: ['symbolic-ref', 'HEAD', branch], access: 'write' });
  else if (head !== null) await git.run({ words: ['update-ref', '--no-deref', 'HEAD', head], access: 'write' });
  if (scope === 'commit' && head !== null) {
    if (branch !== null) await git.run({ words: ['update-ref', branch, head], access: 'write' });
    return;
  }
  if (head !== null) {
    await git.run({ words: ['reset', '--hard', '--quiet', head, '--'], access: 'write' });
    return;
  }
  if (branch !== null) await git.run({ words: ['update-ref', '-d', branch], access: 'write' });
  if (scope === 'commit') return;
  const nothing = emptyTree(await git.config());
  await git.run({ words: ['read-tree', '--reset', '-u', nothing], access: 'write' });
}

async function restoreIndex(git: GitRepository, { index, bases, indexTree }: RecoveryPoint): Promise<void> {
  if (indexTree !== undefined && index === undefined) {
    // Entries that are the same keep what they know of their files.
    await git.run({ words: ['read-tree', '--reset', indexTree], access: 'write' });
    return;
  }
  for await (const { blob, bytes } of readStored(git, bases)) {
    if ((await git.files.read(blob.path)) === undefined) await git.files.write(blob.path, bytes);
  }
  if (index === undefined) {
    await git.files.remove('index');
    return;
  }
  for await (const { bytes } of readStored(git, [index])) await git.files.replace('index', bytes);
}

/** Files that are as HEAD had them become what the index has now. What is where none was is left alone. */
async function followIndex(context: RecoveryContext, { dirty, touched }: RestoreOptions['present']): Promise<void> {
  const changed = new Set(dirty.entries.map(({ path }) => path));
  const clean = touched.filter(({ path }) => !changed.has(path));
  const pathsOf = (wanted: (kind: ChangedFile['kind']) => boolean) =>
    clean.filter(({ kind }) => wanted(kind)).map(({ path }) => path);
  await removeFiles(
    context,
    pathsOf((kind) => kind === 'deleted'),
  );
  await checkOut(
    context,
    pathsOf((kind) => kind !== 'deleted' && kind !== 'added'),
    ['--force'],
  );
  await checkOut(
    context,
    pathsOf((kind) => kind === 'added'),
    [],
  );
}

async function checkOut({ git }: RecoveryContext, paths: readonly RawPath[], more: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await git.run({
    words: ['checkout-index', '--index', '--quiet', ...more, '-z', '--stdin'],
    access: 'write',
    stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    // Something is there: that is what is left alone.
    accept: [0, 1, 128],
  });
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
