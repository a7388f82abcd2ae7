/**
 * The path rules of a call, applied where a path is opened: to the path as the tool spelled it and to the place the held
 * directory has at that moment. Without rules nothing is looked up.
 */
import { closeSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { FoundPath, PathAccess } from '../../contracts/path-text.ts';
import { openEntry } from '../descriptors/directory-entry.ts';
import { shownPath, splitPath } from '../descriptors/path-rules.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import { type FindOptions, findTarget, makeMissingFolders, type WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { GoverningFiles } from './governing-files.ts';

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

/** The same for a target that was just checked. */
export function locateTarget(place: Place, { location, dirFd, name }: GuardedTarget): string {
  const { ruling, root } = place;
  const isOwnFrame = ruling === undefined || ruling.frame.root === root;
  if (!isOwnFrame) return inFrame(place, { dirFd, below: [name] }).location;
  return `${ruling?.frame.locationPrefix ?? ''}${location.join('/')}`;
}

function inFrame({ ruling, root, spelling }: Place, { dirFd, below }: HeldPlace): Omit<FoundPath, 'isFolder'> {
  const frame = ruling?.frame ?? { root, pathPrefix: '', locationPrefix: '' };
  const location = frame.root.locate(dirFd);
  // Moved out of the root since it was opened.
  if (location === undefined) throw new ErrnoError('EXDEV');
  const real = `${frame.locationPrefix}${[...location, ...below].join('/')}`;
  return { path: `${frame.pathPrefix}${spelling}`.replace(/(.)\/+$/, '$1'), location: real === '' ? '.' : real };
}

interface TargetOptions extends FindOptions {
  /** `leave`: the target may come back with folders missing, hence nothing there. */
  readonly missingFolders: 'create' | 'refuse' | 'leave';
  /** `read`: nothing will be changed there, so a read-only place will do. */
  readonly access?: 'read';
}

export interface GuardedTarget extends WriteTarget {
  /** Where the target was when it was checked: names below its root. */
  readonly location: readonly string[];
}

/**
 * The way to every mutation: the target is found by descriptor first, and checked by where it really is.
 *
 * The caller closes the target. Throws E_POLICY for read-only places, governing files, path rules and paths that leave.
 */
export function openGuardedTarget(place: Place, guard: GoverningFiles, options: TargetOptions): GuardedTarget {
  if (options.access !== 'read') requireWritable(place);
  const target = findTarget(place.root, place.path, options);
  try {
    const location = place.root.locate(target.dirFd);
    // Moved out of the root since it was opened.
    if (location === undefined) throw new ErrnoError('EXDEV');
    guard.checkTarget(target, { location, spelling: place.spelling, access: options.access ?? 'change' });
    judgePlace(place, { dirFd: target.dirFd, below: [...target.missing, target.name] }, options.access ?? 'write');
    const names = [...location, ...target.missing, target.name];
    if (target.missing.length === 0 || options.missingFolders === 'leave') return { ...target, location: names };
    if (options.missingFolders === 'refuse') throw folderMissing(target.missingFolder);
    return { ...makeMissingFolders(target), location: names };
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
