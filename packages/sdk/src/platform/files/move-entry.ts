/**
 * Moving: one rename, whatever the size. Across file systems it is a copy that gets its name in one step, and the
 * source is removed last: killed in between, both are there and whole.
 */
import type { MoveOptions, TreeChange } from '../../contracts/workspace.ts';
import { throwIfAborted } from '../cancellation.ts';
import { type DirectoryEntry, mayChange, removeFile } from '../descriptors/directory-entry.ts';
import { findNames } from '../descriptors/list-directory.ts';
import { identityOf } from '../descriptors/root.ts';
import { sourceRemains } from '../descriptors/tree-errors.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { copyToTarget } from './copy-entry.ts';
import { type Transfer, type TransferJob, withTransfer } from './prepare-transfer.ts';
import { removeAside, setAside } from './remove-tree.ts';
import { replaceFolder } from './replace-folder.ts';
import { snapshotEntry } from './snapshot-entry.ts';

const NOTHING_CHANGED: TreeChange = { changes: [], entries: 0, bytes: 0 };

export function moveEntry(job: TransferJob<MoveOptions>): Promise<TreeChange> {
  const { signal } = job.options;
  return withTransfer<TreeChange>(job, {
    purpose: 'move',
    same: () => NOTHING_CHANGED,
    async perform(transfer) {
      const { source, survey, replaced } = transfer;
      const moved = await snapshotEntry(source, { bytes: survey.bytes, signal });
      throwIfAborted(signal);
      await moveToTarget(transfer, signal);
      return {
        changes: [
          { path: transfer.sourcePath, before: moved, after: null },
          { path: transfer.targetPath, before: replaced?.snapshot ?? null, after: moved },
        ],
        ...survey,
      };
    },
  });
}

async function moveToTarget(transfer: Transfer, signal: AbortSignal | undefined): Promise<void> {
  let aside: DirectoryEntry | undefined;
  try {
    aside = await renameToTarget(transfer);
  } catch (thrown) {
    // Another file system, or layers of one that cannot rename between each other.
    if (errnoCode(thrown) !== 'EXDEV') throw thrown;
    await copyAndRemove(transfer, signal);
    return;
  }
  // The move is done; what cannot be removed of the replaced folder is left to the sweep.
  if (aside !== undefined) await removeAside(aside, signal);
}

/** Answers where the replaced folder lies, if there was one. */
async function renameToTarget({ root, source, target, replaced }: Transfer): Promise<DirectoryEntry | undefined> {
  if (replaced === undefined) {
    root.rename(source, target, 'noreplace');
    return undefined;
  }
  if (source.stat.isDirectory()) {
    return replaceFolder({ root, from: source, to: target, replaced: identityOf(replaced.stat) });
  }
  root.rename(source, target, 'replace');
  if (identityOf(source.stat) === identityOf(replaced.stat)) await dropSecondName(source, target);
  return undefined;
}

/**
 * Renaming one name of a file to another name of it does nothing. Both must be listed before one goes: where case does
 * not count, two spellings can be one name, and removing that would remove the file.
 */
async function dropSecondName(from: DirectoryEntry, to: DirectoryEntry): Promise<void> {
  const isListed = async ({ dirFd, name }: DirectoryEntry) =>
    (await findNames(dirFd, (other) => other === name)).length > 0;
  if ((await isListed(from)) && (await isListed(to))) removeFile(from);
}

async function copyAndRemove(transfer: Transfer, signal: AbortSignal | undefined): Promise<void> {
  const { root, source, sourcePath } = transfer;
  if (!mayChange(source.dirFd)) throw new ErrnoError('EACCES');
  await copyToTarget(transfer, { preserveMode: true, ...(signal === undefined ? {} : { signal }) });
  try {
    if (source.stat.isDirectory()) await removeAside(setAside(root, source, identityOf(source.stat)), signal);
    else removeFile(source);
  } catch (thrown) {
    throw sourceRemains(sourcePath, thrown);
  }
}
