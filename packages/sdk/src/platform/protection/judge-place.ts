/**
 * The path rules of a call, applied where a path is opened: to the path as the tool spelled it and to the place the held
 * directory has at that moment. Without rules nothing is looked up.
 */
import { closeSync } from 'node:fs';
import type { FoundPath, PathAccess } from '../../contracts/path-rule.ts';
import { openEntry } from '../descriptors/directory-entry.ts';
import { splitPath } from '../descriptors/path-rules.ts';
import type { Place } from '../descriptors/places.ts';
import { findTarget } from '../descriptors/write-target.ts';
import { ErrnoError } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';

/** A held directory, and the names below it that are meant. */
export interface HeldPlace {
  readonly dirFd: number;
  readonly below: readonly string[];
}

/** Throws E_POLICY when a rule of the call forbids the use. */
export function judgePlace(place: Place, held: HeldPlace, access: PathAccess): void {
  const rule = place.ruling?.rule;
  if (rule === undefined) return;
  rule.check({ ...inFrame(place, held), access });
}

/** The same for everything in a tree: the answer checks one name below the place. */
export function judgeBelow(place: Place, held: HeldPlace, access: PathAccess): ((name: string) => void) | undefined {
  const rule = place.ruling?.rule;
  if (rule === undefined) return undefined;
  const { path, location } = inFrame(place, held);
  return (name) => rule.check({ path: `${path}/${name}`, location: `${location}/${name}`, access });
}

/** For reading; the caller closes the descriptor. The name is opened in the directory that was checked. */
export function openJudged(place: Place, flags: number): number {
  if (place.ruling?.rule === undefined) return place.root.openBeneath(place.path, flags);
  const target = findTarget(place.root, place.path, { followLast: true });
  try {
    judgePlace(place, { dirFd: target.dirFd, below: [...target.missing, target.name] }, 'read');
    if (target.existing === undefined) throw new ErrnoError('ENOENT');
    return openEntry(target, flags);
  } finally {
    target.close();
  }
}

export function locatePlace(place: Place, followLast: boolean): FoundPath {
  const name = splitPath(place.path).components.at(-1);
  if (name === undefined || name === '..') return locateFolder(place);
  const target = findTarget(place.root, place.path, { followLast, acceptsFolder: true });
  try {
    const held = { dirFd: target.dirFd, below: [...target.missing, target.name] };
    return { ...inFrame(place, held), isFolder: target.existing?.isDirectory() === true };
  } finally {
    target.close();
  }
}

function locateFolder(place: Place): FoundPath {
  const dirFd = place.root.openBeneath(place.path, DIRECTORY_HANDLE);
  try {
    return { ...inFrame(place, { dirFd, below: [] }), isFolder: true };
  } finally {
    closeSync(dirFd);
  }
}

/** Where a held name is, as path rules see it. */
export const locateHeld = inFrame;

function inFrame({ ruling, root, spelling }: Place, { dirFd, below }: HeldPlace): Omit<FoundPath, 'isFolder'> {
  const frame = ruling?.frame ?? { root, pathPrefix: '', locationPrefix: '' };
  const location = frame.root.locate(dirFd);
  // Moved out of the root since it was opened.
  if (location === undefined) throw new ErrnoError('EXDEV');
  const real = `${frame.locationPrefix}${[...location, ...below].join('/')}`;
  return { path: `${frame.pathPrefix}${spelling}`.replace(/(.)\/+$/, '$1'), location: real === '' ? '.' : real };
}
