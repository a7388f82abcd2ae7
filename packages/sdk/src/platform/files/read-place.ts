/** Looking at one place: what stands there, and what a file holds. Path rules are asked while the place is held open. */
import { type BigIntStats, closeSync, constants } from 'node:fs';
import type { FileContent, FileStat, MaybePromise, ReadOptions } from '../../contracts/workspace.ts';
import { typeOf } from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS, readContent } from '../descriptors/file-content.ts';
import { splitPath } from '../descriptors/path-rules.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf } from '../descriptors/root.ts';
import { findTarget } from '../descriptors/write-target.ts';
import { errnoCode } from '../errno-error.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { judgePlace, locatePlace, openJudged } from '../protection/judge-place.ts';

export function readPlace(
  place: Place,
  guard: GoverningFiles,
  options: ReadOptions | undefined,
): MaybePromise<FileContent> {
  const fd = openJudged(place, constants.O_RDONLY);
  try {
    guard.checkRead(place.root, fd, place.spelling);
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
  return readContent(fd, options);
}

export function statPlace(place: Place): FileStat | null {
  let stat: BigIntStats | undefined;
  try {
    stat = place.ruling?.rule === undefined ? place.root.statBeneath(place.path) : statJudged(place);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw thrown;
  }
  if (stat === undefined) return null;
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & PERMISSION_BITS,
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    identity: identityOf(stat),
  };
}

function statJudged(place: Place): BigIntStats | undefined {
  const name = splitPath(place.path).components.at(-1);
  if (name === undefined || name === '..') {
    place.ruling?.rule?.check({ ...locatePlace(place, false), access: 'read' });
    return place.root.statBeneath(place.path);
  }
  const target = findTarget(place.root, place.path, { followLast: false, acceptsFolder: true });
  try {
    judgePlace(place, { dirFd: target.dirFd, below: [...target.missing, target.name] }, 'read');
    return target.existing;
  } finally {
    target.close();
  }
}
