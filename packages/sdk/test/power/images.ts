/** What may be found on the disk after the power came back. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Inode, written } from './disk-model.ts';

/** Path below the root → content; null for a folder. */
export type Image = Map<string, Buffer | null>;

const SECTOR = 512;

/** Nothing that was not synced. */
export function droppedImage(top: Inode): Image {
  return collect(
    top,
    (inode) => inode.syncedNames,
    (inode) => inode.synced,
  );
}

/** Every name, and of the content what was synced: the empty file under a new name. */
export function namesOnlyImage(top: Inode): Image {
  return collect(
    top,
    (inode) => inode.names,
    (inode) => inode.synced,
  );
}

/** Every name, and of each write that was not synced some sectors. `chance` gives numbers from 0 to 1. */
export function tornImage(top: Inode, chance: () => number): Image {
  return collect(
    top,
    (inode) => inode.names,
    (inode) => torn(inode, chance),
  );
}

/** What a process that is killed leaves. */
export function liveImage(top: Inode): Image {
  return collect(
    top,
    (inode) => inode.names,
    (inode) => inode.data,
  );
}

function torn(inode: Inode, chance: () => number): Buffer {
  let data = inode.synced;
  for (const { at, bytes } of inode.pending) {
    for (let from = 0; from < bytes.length; from += SECTOR) {
      if (chance() < 0.5) data = written(data, { at: at + from, bytes: bytes.subarray(from, from + SECTOR) });
    }
  }
  return data;
}

function collect(top: Inode, names: (inode: Inode) => Map<string, Inode>, data: (inode: Inode) => Buffer): Image {
  const image: Image = new Map();
  const walk = (inode: Inode, path: string): void => {
    for (const [name, inner] of names(inode)) {
      const at = path === '' ? name : `${path}/${name}`;
      // Shared memory: SQLite makes it anew.
      if (name.endsWith('-shm')) continue;
      image.set(at, inner.isFolder ? null : data(inner));
      if (inner.isFolder) walk(inner, at);
    }
  };
  walk(top, '');
  return image;
}

export function layDown(image: Image, folder: string): void {
  mkdirSync(folder);
  for (const [path, content] of image) {
    if (content === null) mkdirSync(join(folder, path), { mode: 0o700 });
    else {
      writeFileSync(join(folder, path), content, { mode: 0o600 });
      chmodSync(join(folder, path), 0o600);
    }
  }
}

/** Numbers that are the same in every run. */
export function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
