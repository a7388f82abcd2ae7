/**
 * By which keys a path is locked.
 *
 * The name in its real directory and the file behind it, so that every spelling meets at one key. A link has the keys
 * of its own name and those of what it leads to. The spelling itself is a key too: while missing folders are being
 * made, the real directory of one name is not the same for all callers.
 */
import { closeSync, fstatSync } from 'node:fs';
import { splitPath } from '../descriptors/path-rules.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf } from '../descriptors/root.ts';
import { findTarget, type WriteTarget } from '../descriptors/write-target.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';

export function placeKeys(place: Place): readonly string[] {
  const { root, path } = place;
  const { components } = splitPath(path);
  const spelling = `path:${root.identity}:${components.join('/')}`;
  const name = components.at(-1);
  if (name === undefined || name === '..') return [spelling, folderKey(place)];
  const target = findTarget(root, path, { followLast: false, acceptsFolder: true });
  try {
    const keys = [spelling, ...targetKeys(target)];
    return target.existing?.isSymbolicLink() === true ? [...keys, ...keysBehindLink(place)] : keys;
  } finally {
    target.close();
  }
}

function targetKeys(target: WriteTarget): string[] {
  const directory = identityOf(fstatSync(target.dirFd, { bigint: true }));
  const name = `name:${directory}:${[...target.missing, target.name].join('/')}`;
  return target.existing === undefined ? [name] : [name, `file:${identityOf(target.existing)}`];
}

function keysBehindLink({ root, path }: Place): string[] {
  let target: WriteTarget;
  try {
    target = findTarget(root, path, { followLast: true, acceptsFolder: true });
  } catch (thrown) {
    // A link that leads nowhere inside can itself be moved or removed, and nothing is written through it.
    if (errnoCode(thrown) !== undefined) return [];
    throw thrown;
  }
  try {
    return targetKeys(target);
  } finally {
    target.close();
  }
}

function folderKey({ root, path }: Place): string {
  const dirFd = root.openBeneath(path, DIRECTORY_HANDLE);
  try {
    return `file:${identityOf(fstatSync(dirFd, { bigint: true }))}`;
  } finally {
    closeSync(dirFd);
  }
}
