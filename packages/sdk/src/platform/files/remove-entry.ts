/** Removing a file, a link, an empty folder, or a folder with everything in it. */
import { closeSync, constants } from 'node:fs';
import type {
  FileSnapshot,
  MaybePromise,
  RemoveFileOptions,
  RemoveOptions,
  TreeChange,
} from '../../contracts/workspace.ts';
import { throwIfAborted } from '../cancellation.ts';
import {
  type FoundEntry,
  openEntry,
  openSubdirectory,
  removeDirectory,
  removeFile,
} from '../descriptors/directory-entry.ts';
import { findNames } from '../descriptors/directory-reader.ts';
import { readContent, snapshotOf } from '../descriptors/file-content.ts';
import { explained, notEmpty, partlyRemoved } from '../descriptors/file-errors.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf } from '../descriptors/root.ts';
import type { WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { type HeldPlace, judgeBelow } from '../protection/judge-place.ts';
import { sweepLeftovers } from './leftovers.ts';
import { removeAside, setAside } from './remove-tree.ts';
import { watching } from './replace-file.ts';
import { snapshotEntry, snapshotWithoutContent } from './snapshot-entry.ts';
import { type Survey, surveyEntry } from './survey-tree.ts';
import { openOperand, operandPath } from './tree-operand.ts';

interface RemoveJob {
  readonly place: Place;
  readonly guard: GoverningFiles;
  readonly options: RemoveOptions;
}

/** Null when there was nothing. */
export async function removeEntry(job: RemoveJob): Promise<TreeChange | null> {
  const target = openOperand(job.place, job.guard);
  try {
    const { dirFd, name, existing } = target;
    if (existing === undefined) return null;
    await sweepLeftovers(dirFd, Date.now());
    const change = await explained(job.place.spelling, () => removeFound({ dirFd, name, stat: existing }, job));
    await job.place.disk.settle([dirFd]);
    return change;
  } finally {
    target.close();
  }
}

async function removeFound(entry: FoundEntry, job: RemoveJob): Promise<TreeChange> {
  const { signal, recursive } = job.options;
  const isFolder = entry.stat.isDirectory();
  const path = operandPath(job.place);
  const survey = isFolder && !recursive ? await removeEmpty(entry, path) : await surveyFor(entry, path, job);
  const before = await snapshotEntry(entry, { bytes: survey.bytes, signal });
  if (!isFolder) removeFile(entry);
  else if (recursive) await removeWhole(entry, path, job);
  return { changes: [{ path, before, after: null }], ...survey };
}

function surveyFor(entry: FoundEntry, spelling: string, { place, guard, options }: RemoveJob): Promise<Survey> {
  const held: HeldPlace = { dirFd: entry.dirFd, below: [entry.name] };
  const judge = judgeBelow(place, held, 'write');
  return surveyEntry(entry, { guard, spelling, purpose: 'remove', signal: options.signal, judge });
}

async function removeEmpty(folder: FoundEntry, path: string): Promise<Survey> {
  try {
    removeDirectory(folder);
  } catch (thrown) {
    if (errnoCode(thrown) !== 'ENOTEMPTY') throw thrown;
    const left = await countEntries(folder);
    if (left > 0) throw notEmpty(path, left);
    removeDirectory(folder);
  }
  return { entries: 1, bytes: 0 };
}

/** Without what a crash left in it. */
async function countEntries(folder: FoundEntry): Promise<number> {
  const dirFd = openSubdirectory(folder);
  try {
    await sweepLeftovers(dirFd, Date.now());
    return (await findNames(dirFd, () => true)).length;
  } finally {
    closeSync(dirFd);
  }
}

async function removeWhole(folder: FoundEntry, path: string, { place, options }: RemoveJob): Promise<void> {
  throwIfAborted(options.signal);
  const aside = setAside(place.root, folder, identityOf(folder.stat));
  const failure = await removeAside(aside, options.signal);
  if (failure !== undefined) throw partlyRemoved(path, failure);
}

/**
 * Removes one name. The content is read first, so that the record can say what was lost. What was there, or null. A
 * link is removed itself. EISDIR, ENXIO for the rest. `check` may still refuse.
 */
export function removeTarget(
  target: WriteTarget,
  check: (before: FileSnapshot | null) => void,
  options: RemoveFileOptions = {},
): MaybePromise<FileSnapshot | null> {
  const { existing } = target;
  const remove = (before: FileSnapshot): FileSnapshot => {
    check(before);
    removeFile(target);
    return before;
  };
  if (existing === undefined) {
    check(null);
    return null;
  }
  if (existing.isSymbolicLink()) return remove(snapshotWithoutContent(existing));
  if (!existing.isFile()) throw new ErrnoError(existing.isDirectory() ? 'EISDIR' : 'ENXIO');
  const content = readContent(openEntry(target, constants.O_RDONLY), watching(options));
  return content instanceof Promise ? content.then((read) => remove(snapshotOf(read))) : remove(snapshotOf(content));
}
