/**
 * A folder in the place of another one.
 *
 * Where the kernel can exchange two names, the target is the old folder or the new one at every moment; killed right
 * after, the old one still lies under the name of the new one. Elsewhere the old one is set aside first, and killed
 * right after that, there is no target and the new one is where it was.
 */

import { isTemporaryName } from '../../contracts/path-text.ts';
import { type DirectoryEntry, statEntry } from '../descriptors/directory-entry.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { setAside } from './remove-tree.ts';

export interface FolderReplacement {
  readonly root: Root;
  readonly from: DirectoryEntry;
  readonly to: DirectoryEntry;
  /** `device:inode` of the folder that is to be replaced; EAGAIN when another one stands there by now. */
  readonly replaced: string;
}

/** Answers the temporary name of the replaced folder, which the caller removes. */
export function replaceFolder(job: FolderReplacement): DirectoryEntry {
  const { root, from, to, replaced } = job;
  try {
    root.rename(from, to, 'exchange');
  } catch (thrown) {
    if (errnoCode(thrown) !== 'ENOTSUP') throw thrown;
    return replaceInSteps(job);
  }
  const old = statEntry(from);
  if (old === undefined || identityOf(old) !== replaced) {
    root.rename(from, to, 'exchange');
    throw new ErrnoError('EAGAIN');
  }
  return isTemporaryName(from.name) ? from : setAside(root, from, replaced);
}

function replaceInSteps({ root, from, to, replaced }: FolderReplacement): DirectoryEntry {
  const aside = setAside(root, to, replaced);
  try {
    root.rename(from, to, 'noreplace');
    return aside;
  } catch (thrown) {
    root.rename(aside, to, 'noreplace');
    throw thrown;
  }
}
