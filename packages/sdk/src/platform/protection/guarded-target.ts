/** The way to every mutation: the target is found by descriptor first, and checked by where it really is. */
import { ToolError } from '@tool-runtime/protocol';
import { shownPath } from '../descriptors/path-rules.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import { type FindOptions, findTarget, makeMissingFolders, type WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError } from '../errno-error.ts';
import type { GoverningFiles } from './governing-files.ts';
import { judgePlace } from './judge-place.ts';

export interface TargetOptions extends FindOptions {
  /** `leave`: the target may come back with folders missing, hence nothing there. */
  readonly missingFolders: 'create' | 'refuse' | 'leave';
  /** `read`: nothing will be changed there, so a read-only place will do. */
  readonly access?: 'read';
}

/** The caller closes the target. Throws E_POLICY for read-only places, governing files, path rules and paths that leave. */
export function openGuardedTarget(place: Place, guard: GoverningFiles, options: TargetOptions): WriteTarget {
  if (options.access !== 'read') requireWritable(place);
  const target = findTarget(place.root, place.path, options);
  try {
    const location = place.root.locate(target.dirFd);
    // Moved out of the root since it was opened.
    if (location === undefined) throw new ErrnoError('EXDEV');
    guard.checkTarget(target, { location, spelling: place.spelling, access: options.access ?? 'change' });
    judgePlace(place, { dirFd: target.dirFd, below: [...target.missing, target.name] }, options.access ?? 'write');
    if (target.missing.length === 0 || options.missingFolders === 'leave') return target;
    if (options.missingFolders === 'refuse') throw folderMissing(target.missingFolder);
    return makeMissingFolders(target);
  } catch (thrown) {
    target.close();
    throw thrown;
  }
}

export function folderMissing(folder: string): ToolError {
  const shown = shownPath(folder);
  return new ToolError('E_FILE_IO', `Folder not found: ${shown}`, {
    path: shown,
    details: { reason: 'ENOENT', next: 'Create the folder first, or ask for missing folders to be created' },
  });
}
