/**
 * A path at which nothing may appear: what it leads to is remembered, and when it leads elsewhere later, the name that
 * makes it do so is moved aside. Everything goes through descriptors, so names that change meanwhile lead nowhere else.
 */
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type DirectoryEntry, openSubdirectory, renameEntry, statEntry } from '../descriptors/directory-entry.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { isBelow } from './sandbox-mounts.ts';

export interface WatchedPath {
  /** Answers the new path, relative to the workspace where it lies there. */
  moveAside(workspace: string): readonly string[];
}

interface Folder {
  readonly from: string;
  /** Stays open as long as the path is watched. */
  readonly fd: number;
}

const TRIES = 10;
const CHANGED_MEANWHILE = ['ENOENT', 'ENOTDIR', 'ELOOP'];

export function watchPath(folder: Folder, names: readonly string[]): WatchedPath {
  const before = trace(folder.fd, names, keyOf);
  const moveOnce = (workspace: string): readonly string[] => {
    const moved = trace(folder.fd, names, (entry, depth) => {
      if (keyOf(entry, depth) === before) return [];
      const aside = `quarantined-${randomBytes(4).toString('hex')}-${entry.name.replace(/^\./, '')}`;
      renameEntry(entry, { dirFd: entry.dirFd, name: aside });
      const path = join(folder.from, ...names.slice(0, depth), aside);
      return [isBelow(path, workspace) ? relative(workspace, path) : path];
    });
    return moved ?? [];
  };
  return { moveAside: (workspace) => retried(() => moveOnce(workspace)) ?? [] };
}

/** Commands that still run may change names while we look; so may another one that ended and moves the same aside. */
function retried<Answer>(act: () => Answer): Answer | undefined {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return act();
    } catch (thrown) {
      if (!CHANGED_MEANWHILE.includes(errnoCode(thrown) ?? '')) throw thrown;
    }
  }
  return undefined;
}

/** What decides where the path leads: its last name, or the first link on the way. Undefined when it leads nowhere. */
export function trace<Answer>(
  folder: number,
  names: readonly string[],
  use: (entry: DirectoryEntry, depth: number) => Answer,
): Answer | undefined {
  const opened: number[] = [];
  try {
    for (const [depth, name] of names.entries()) {
      const entry = { dirFd: opened.at(-1) ?? folder, name };
      const stat = statEntry(entry);
      if (stat === undefined) return undefined;
      if (depth === names.length - 1 || stat.isSymbolicLink()) return use(entry, depth);
      // A file where a folder would have to be: nothing can be read through it.
      if (!stat.isDirectory()) return undefined;
      opened.push(openSubdirectory(entry));
    }
    return undefined;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function keyOf(entry: DirectoryEntry, depth: number): string | undefined {
  const stat = statEntry(entry);
  return stat === undefined ? undefined : `${depth}:${identityOf(stat)}:${stat.ctimeNs}`;
}
