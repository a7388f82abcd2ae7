/**
 * Atomic replacement: new content in a temporary file beside the target, then one rename.
 *
 * The old inode is never touched, so a hard link to it from elsewhere keeps its content. The old file is read right
 * before the rename: that one read gives the digest for the record and the check of the caller's expectation. It stays
 * open until it has lost its name, so that the rename does not wait until the disk has freed its content.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { ToolError } from '@tool-runtime/protocol';
import { isTemporaryName } from '../../contracts/path-text.ts';
import type { ChangeWatch, FileSnapshot, MaybePromise, ReadOptions, WriteOptions } from '../../contracts/workspace.ts';
import { type DirectoryEntry, openEntry, statEntry } from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS, readOpen, readOpenSync, SMALL_FILE_BYTES, snapshotOf } from '../descriptors/file-content.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { foldersOf, type WriteTarget } from '../descriptors/write-target.ts';
import { sha256Hex } from '../digest.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { type GuardedTarget, locateTarget } from '../protection/judge-place.ts';
import { setAside } from './remove-tree.ts';
import { changedMeanwhile } from './snapshot-entry.ts';
import { createTemporaryFile, type Ownership, type TemporaryFile } from './temporary-file.ts';

export interface Replacement {
  readonly root: Root;
  readonly disk: Disk;
  readonly target: WriteTarget;
  /** The caller's spelling, for messages. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly options: WriteOptions;
}

export interface ReplacementResult {
  readonly before: FileSnapshot | null;
  readonly after: FileSnapshot;
}

const NEW_FILE_MODE = 0o644;
const CHUNK_BYTES = 1024 * 1024;

const writeAt = promisify(write);

export function checkMode(mode: number | undefined): void {
  if (mode === undefined || (mode & ~PERMISSION_BITS) === 0) return;
  throw new ToolError('E_VALIDATION_FAIL', `File mode holds set-id or sticky bits: ${mode.toString(8)}`, {
    path: 'mode',
    details: { next: 'Use permission bits only, such as 644' },
  });
}

/** Small and not synced: done when it returns. Else off the event loop. */
export function replaceFile(job: Replacement): MaybePromise<ReplacementResult> {
  const { target, options, bytes, disk } = job;
  if (target.existing !== undefined) {
    if (options.exclusive) throw new ErrnoError('EEXIST');
    if (!target.existing.isFile()) throw new ErrnoError(target.existing.isDirectory() ? 'EISDIR' : 'ENXIO');
  }
  const largest = Math.max(bytes.length, Number(target.existing?.size ?? 0));
  return disk.isFull || largest > SMALL_FILE_BYTES ? replaceSlowly(job) : replaceAtOnce(job);
}

function replaceAtOnce(job: Replacement): ReplacementResult {
  const mode = finalMode(job);
  const temporary = createTemporaryFile(job.target.dirFd, job.root, { mode, owner: ownerToKeep(job) });
  let old: number | undefined;
  let before: FileSnapshot | null = null;
  try {
    for (let done = 0; done < job.bytes.length; ) done += writeSync(temporary.fd, job.bytes, done);
    old = openCurrent(job);
    if (old !== undefined) {
      const content = readOpenSync(old);
      job.options.watch?.whole(content.bytes);
      before = snapshotOf(content);
    }
    publish(job, temporary, before);
  } catch (thrown) {
    temporary.discard();
    throw thrown;
  } finally {
    if (old !== undefined) job.disk.release(old);
  }
  closeSync(temporary.fd);
  return { before, after: { sha256: sha256Hex(job.bytes), size: job.bytes.length, mode } };
}

async function replaceSlowly(job: Replacement): Promise<ReplacementResult> {
  const mode = finalMode(job);
  const temporary = createTemporaryFile(job.target.dirFd, job.root, { mode, owner: ownerToKeep(job) });
  let old: number | undefined;
  let before: FileSnapshot | null = null;
  let sha256: string;
  try {
    sha256 = await writeInChunks(temporary.fd, job.bytes);
    await job.disk.content(temporary.fd);
    old = openCurrent(job);
    if (old !== undefined) before = snapshotOf(await readOpen(old, watching(job.options)));
    publish(job, temporary, before);
  } catch (thrown) {
    temporary.discard();
    throw thrown;
  } finally {
    if (old !== undefined) job.disk.release(old);
  }
  closeSync(temporary.fd);
  await job.disk.settle(foldersOf(job.target));
  return { before, after: { sha256, size: job.bytes.length, mode } };
}

/** Folders that were made for the target are the last ones on the way to it. */
export function tellPlace(watch: ChangeWatch, place: Place, target: GuardedTarget): void {
  const { dirFd, made } = target;
  const location = locateTarget(place, target);
  const names = location.split('/');
  const opened = made.length === 0 ? [] : [...made.slice(1), dirFd];
  const folders = opened.map((fd, at) => ({
    path: names.slice(0, names.length - made.length + at).join('/'),
    mode: fstatSync(fd).mode & PERMISSION_BITS,
  }));
  watch.at(location, folders);
}

/** The old content is only looked at, by the digest and by those who keep it. */
export function watching({ watch }: Pick<WriteOptions, 'watch'>): ReadOptions {
  return watch === undefined ? { maxBytes: 0 } : { maxBytes: 0, onPiece: (piece) => watch.piece(piece) };
}

/** The last look at the old content, then the rename; in this process nothing can come between the two. */
function publish(job: Replacement, temporary: TemporaryFile, before: FileSnapshot | null): void {
  const { expectedSha256, exclusive } = job.options;
  if (expectedSha256 !== undefined && expectedSha256 !== (before?.sha256 ?? null)) {
    throw changedMeanwhile(job.path, { expected: expectedSha256, actual: before?.sha256 ?? null });
  }
  const how = exclusive || expectedSha256 === null ? 'noreplace' : 'replace';
  temporary.publish(job.target, how, before !== null);
}

function openCurrent({ target }: Replacement): number | undefined {
  try {
    return openEntry(target, constants.O_RDONLY);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function finalMode({ target, options }: Replacement): number {
  const wanted = options.mode ?? NEW_FILE_MODE;
  if (target.existing === undefined || options.forceMode) return wanted;
  return Number(target.existing.mode) & PERMISSION_BITS;
}

function ownerToKeep({ target }: Replacement): Ownership | undefined {
  if (target.existing === undefined) return undefined;
  return { uid: Number(target.existing.uid), gid: Number(target.existing.gid) };
}

async function writeInChunks(fd: number, bytes: Uint8Array): Promise<string> {
  const hasher = createHash('sha256');
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeAt(fd, bytes, done, Math.min(CHUNK_BYTES, bytes.length - done));
    hasher.update(bytes.subarray(done, done + bytesWritten));
    done += bytesWritten;
  }
  return hasher.digest('hex');
}

interface FolderReplacement {
  readonly root: Root;
  readonly from: DirectoryEntry;
  readonly to: DirectoryEntry;
  /** `device:inode` of the folder that is to be replaced; EAGAIN when another one is there by now. */
  readonly replaced: string;
}

/**
 * A folder in the place of another one.
 *
 * Where the kernel can exchange two names, the target is the old folder or the new one at every moment; killed right
 * after, the old one still lies under the name of the new one. Elsewhere the old one is set aside first, and killed
 * right after that, there is no target and the new one is where it was.
 *
 * Answers the temporary name of the replaced folder, which the caller removes.
 */
export function replaceFolder(job: FolderReplacement): DirectoryEntry {
  const { root, from, to, replaced } = job;
  try {
    root.rename(from, to, 'exchange');
  } catch (thrown) {
    if (errnoCode(thrown) !== 'ENOTSUP') throw thrown;
    return replaceInSteps(job);
  }
  const old = statEntry(from);
  if (old === undefined || identityOf(old) !== replaced) {
    root.rename(from, to, 'exchange');
    throw new ErrnoError('EAGAIN');
  }
  return isTemporaryName(from.name) ? from : setAside(root, from, replaced);
}

function replaceInSteps({ root, from, to, replaced }: FolderReplacement): DirectoryEntry {
  const aside = setAside(root, to, replaced);
  if (aside === to) throw new ErrnoError('EXDEV');
  try {
    root.rename(from, to, 'noreplace');
    return aside;
  } catch (thrown) {
    root.rename(aside, to, 'noreplace');
    throw thrown;
  }
}
