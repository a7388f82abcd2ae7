/**
 * How far a change of the workspace gets before it counts as done: to the kernel (`normal`), or to the disk (`full`).
 *
 * Under `full` the order is always the same: the content of a file before the file gets its name, and the folder after
 * a name in it was added, moved or removed. Code that changes names calls `settle` with the folders; nothing else in
 * this layer syncs.
 */
import { close, closeSync, constants, fsync, fsyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { reopenDirectory } from './directory-entry.ts';

export interface Disk {
  readonly isFull: boolean;
  /** From here on changes are synced; there is no way back. */
  requireFull(): void;
  /** The content of an open file. Call it before the file gets its name. */
  content(fd: number): MaybePromise<void>;
  /** The names in held folders. Call it after they changed. `finish` runs before the last sync. */
  settle(folders: readonly number[], finish?: () => void): MaybePromise<void>;
  /**
   * Closes a file that was replaced. With its last handle goes its content, and that can wait for the disk; so it happens
   * beside the event loop, and no call waits for it.
   */
  release(fd: number): void;
  /** Both for files of our own, where the caller cannot wait. */
  contentNow(fd: number): void;
  settleNow(folder: string): void;
}

const syncFile = promisify(fsync);
/** Handles that are being closed; more would hold on to space that others need. */
const MAX_RELEASED = 8;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

export function createDisk(): Disk {
  let isFull = false;
  let released = 0;
  return {
    get isFull() {
      return isFull;
    },
    requireFull() {
      isFull = true;
    },
    content: (fd) => (isFull ? syncFile(fd) : undefined),
    settle(folders, finish) {
      if (isFull) return syncFolders(folders, finish);
      finish?.();
      return undefined;
    },
    release(fd) {
      if (released >= MAX_RELEASED) {
        closeSync(fd);
        return;
      }
      released += 1;
      close(fd, () => {
        released -= 1;
      });
    },
    contentNow(fd) {
      if (isFull) fsyncSync(fd);
    },
    settleNow(folder) {
      if (isFull) syncFolder(folder);
    },
  };
}

export function createFullDisk(): Disk {
  const disk = createDisk();
  disk.requireFull();
  return disk;
}

/** Each is opened before `finish` may take the right to read it away. */
async function syncFolders(folders: readonly number[], finish: (() => void) | undefined): Promise<void> {
  const opened: number[] = [];
  try {
    for (const dirFd of folders) opened.push(reopenDirectory(dirFd, FOLDER));
    finish?.();
    for (const fd of opened) await syncFile(fd);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** A name is on the disk only when its folder is. Windows cannot open folders and needs no such step. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, FOLDER);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
