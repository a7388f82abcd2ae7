/** One path of a move, copy or removal: a name in a held folder. The root itself is never one. */
import { closeSync, fstatSync, statSync } from 'node:fs';
import { endsInParent, explained, rootRefused } from '../descriptors/file-errors.ts';
import { splitPath } from '../descriptors/path-rules.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf } from '../descriptors/root.ts';
import type { WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { openGuardedTarget } from '../protection/judge-place.ts';

/** The caller closes it. A link counts as itself. Folders on the way may be missing. */
export function openOperand(
  place: Place,
  guard: GoverningFiles,
  options: { readonly access?: 'read' } = {},
): WriteTarget {
  return explained(place.spelling, () => {
    refuseRoot(place);
    const target = openGuardedTarget(place, guard, {
      followLast: false,
      acceptsFolder: true,
      missingFolders: 'leave',
      ...options,
    });
    if (target.existing === undefined || target.existing.isDirectory() || !splitPath(place.path).isDirectory) {
      return target;
    }
    target.close();
    throw new ErrnoError('ENOTDIR');
  });
}

function refuseRoot({ root, path, spelling }: Place): void {
  const name = splitPath(path).components.at(-1);
  if (name === undefined) throw rootRefused(spelling);
  if (name !== '..') return;
  const dirFd = root.openBeneath(path, DIRECTORY_HANDLE);
  try {
    throw identityOf(fstatSync(dirFd, { bigint: true })) === root.identity
      ? rootRefused(spelling)
      : endsInParent(spelling);
  } finally {
    closeSync(dirFd);
  }
}

/** The normal spelling, without a slash at the end. */
export function operandPath(place: Place): string {
  return place.spelling.replace(/\/$/, '');
}

export function isSameEntry(left: WriteTarget, right: WriteTarget): boolean {
  if (left.name !== right.name || left.missing.length > 0 || right.missing.length > 0) return false;
  return folderIdentity(left) === folderIdentity(right);
}

function folderIdentity({ dirFd }: WriteTarget): string {
  return identityOf(fstatSync(dirFd, { bigint: true }));
}

/** Whether the folder behind `dirFd`, or one that holds it, is the one with this identity. Compares, never opens. */
export function isBelow(dirFd: number, identity: string): boolean {
  let path = `/proc/self/fd/${dirFd}/.`;
  let below = '';
  for (;;) {
    const here = identityAbove(path);
    // At the top a folder is its own parent.
    if (here === undefined || here === below) return false;
    if (here === identity) return true;
    below = here;
    path += '/..';
  }
}

function identityAbove(path: string): string | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch (thrown) {
    // Above the root there may be folders we cannot enter: none of them is an operand.
    if (errnoCode(thrown) === 'EACCES') return undefined;
    throw thrown;
  }
}
