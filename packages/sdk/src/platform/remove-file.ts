/** Removal of one name. The content is read first, so that the record can say what was lost. */
import { constants } from 'node:fs';
import type { FileSnapshot, MaybePromise } from '../contracts/workspace.ts';
import { sha256Hex } from './digest.ts';
import { openEntry, readLink, removeFile } from './directory-entry.ts';
import { ErrnoError } from './errno-error.ts';
import { PERMISSION_BITS, readContent, snapshotOf } from './file-content.ts';
import type { WriteTarget } from './write-target.ts';

/** What stood there, or null. A link is removed itself and its snapshot is that of its text. EISDIR, ENXIO for the rest. */
export function removeTarget(target: WriteTarget): MaybePromise<FileSnapshot | null> {
  const { existing } = target;
  if (existing === undefined) return null;
  if (existing.isSymbolicLink()) {
    const text = readLink(target) ?? '';
    return remove(target, {
      sha256: sha256Hex(text),
      size: Buffer.byteLength(text),
      mode: Number(existing.mode) & PERMISSION_BITS,
    });
  }
  if (!existing.isFile()) throw new ErrnoError(existing.isDirectory() ? 'EISDIR' : 'ENXIO');
  const content = readContent(openEntry(target, constants.O_RDONLY), { maxBytes: 0 });
  return content instanceof Promise
    ? content.then((read) => remove(target, snapshotOf(read)))
    : remove(target, snapshotOf(content));
}

function remove(target: WriteTarget, before: FileSnapshot): FileSnapshot {
  removeFile(target);
  return before;
}
