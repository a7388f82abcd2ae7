/** Removal of one name. The content is read first, so that the record can say what was lost. */
import { constants } from 'node:fs';
import type { FileSnapshot, MaybePromise } from '../../contracts/workspace.ts';
import { openEntry, removeFile } from '../descriptors/directory-entry.ts';
import { readContent, snapshotOf } from '../descriptors/file-content.ts';
import type { WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError } from '../errno-error.ts';
import { snapshotWithoutContent } from './snapshot-entry.ts';

/** What stood there, or null. A link is removed itself. EISDIR, ENXIO for the rest. `check` may still refuse. */
export function removeTarget(
  target: WriteTarget,
  check: (before: FileSnapshot | null) => void,
): MaybePromise<FileSnapshot | null> {
  const { existing } = target;
  const remove = (before: FileSnapshot): FileSnapshot => {
    check(before);
    removeFile(target);
    return before;
  };
  if (existing === undefined) {
    check(null);
    return null;
  }
  if (existing.isSymbolicLink()) return remove(snapshotWithoutContent(existing));
  if (!existing.isFile()) throw new ErrnoError(existing.isDirectory() ? 'EISDIR' : 'ENXIO');
  const content = readContent(openEntry(target, constants.O_RDONLY), { maxBytes: 0 });
  return content instanceof Promise ? content.then((read) => remove(snapshotOf(read))) : remove(snapshotOf(content));
}
