/**
 * Where a write to a path lands: the directory it happens in, held open, and the name inside it.
 *
 * A link in the last place is followed, so that writing through it changes the file it points to and keeps the link.
 * Following means asking the root again with the link's text appended; the root refuses what leaves.
 */
import { type BigIntStats, closeSync } from 'node:fs';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { type DirectoryEntry, makeDirectory, openSubdirectory, readLink, statEntry } from './directory-entry.ts';
import { joinPath, type RelativePath, splitPath } from './path-rules.ts';
import type { Root } from './root.ts';

export interface WriteTarget extends DirectoryEntry {
  /** Folders between the held directory and the name that do not exist yet. */
  readonly missing: readonly string[];
  /** What is at the name now, never a link when links are followed. */
  readonly existing: BigIntStats | undefined;
  /** Folders on the way in which one was made for this target; held until the target is closed. */
  readonly made: readonly number[];
  /** The first missing folder as the caller would spell it. */
  readonly missingFolder: string;
  close(): void;
}

const MAX_LINKS = 40;
const NEW_FOLDER_MODE = 0o777;

export interface FindOptions {
  /** Go through a link in the last place to what it points to. */
  readonly followLast: boolean;
  /** The path may be spelled as a folder, with a slash at the end. */
  readonly acceptsFolder?: boolean;
}

/** The caller closes the target. EISDIR for `.`, for a path that ends in `..`, and for a folder that is not accepted. */
export function findTarget(root: Root, path: RelativePath, options: FindOptions): WriteTarget {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const target = findEntry(root, current, options);
    try {
      const text = options.followLast && target.existing?.isSymbolicLink() ? readLink(target) : undefined;
      if (text === undefined) return target;
      target.close();
      current = besideLink(current, text);
    } catch (thrown) {
      target.close();
      throw thrown;
    }
  }
  throw new ErrnoError('ELOOP');
}

function besideLink(path: RelativePath, text: string): RelativePath {
  if (text.startsWith('/')) throw new ErrnoError('EXDEV');
  const { components, isDirectory } = splitPath(text);
  return joinPath([...splitPath(path).components.slice(0, -1), ...components], { isDirectory });
}

function findEntry(root: Root, path: RelativePath, { acceptsFolder = false }: FindOptions): WriteTarget {
  const { components, isDirectory } = splitPath(path);
  const name = components.at(-1);
  const folders = components.slice(0, -1);
  const { dirFd, depth } = openDeepest(root, folders);
  const close = closerOf(dirFd);
  try {
    if (name === undefined || name === '..' || (isDirectory && !acceptsFolder)) throw new ErrnoError('EISDIR');
    const missing = folders.slice(depth);
    const existing = missing.length === 0 ? statEntry({ dirFd, name }) : undefined;
    return { dirFd, name, missing, made: [], existing, missingFolder: joinPath(folders.slice(0, depth + 1)), close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

/** The longest run of folders that exists. A `..` behind a missing folder has no meaning yet and stays ENOENT. */
function openDeepest(root: Root, folders: readonly string[]): { dirFd: number; depth: number } {
  for (let depth = folders.length; ; depth--) {
    try {
      return { dirFd: root.openBeneath(joinPath(folders.slice(0, depth)), DIRECTORY_HANDLE), depth };
    } catch (thrown) {
      if (errnoCode(thrown) !== 'ENOENT' || depth === 0 || folders[depth - 1] === '..') throw thrown;
    }
  }
}

/** Makes the missing folders one by one below the held directory, never through a link. Takes over `target`. */
export function makeMissingFolders(target: WriteTarget): WriteTarget {
  let held = target;
  try {
    for (const name of target.missing) {
      const entry = { dirFd: held.dirFd, name };
      makeDirectory(entry, NEW_FOLDER_MODE);
      const dirFd = openSubdirectory(entry);
      held = { ...target, missing: [], dirFd, made: [...held.made, held.dirFd], close: closerOf(dirFd, held.close) };
    }
    return held;
  } catch (thrown) {
    held.close();
    throw thrown;
  }
}

/** Every folder whose names a change of the target may have changed. */
export function foldersOf({ dirFd, made }: WriteTarget): readonly number[] {
  return [dirFd, ...made];
}

/** Closing twice must be harmless: the number may be someone else's by then. */
function closerOf(fd: number, closeOuter?: () => void): () => void {
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(fd);
    closeOuter?.();
  };
}
