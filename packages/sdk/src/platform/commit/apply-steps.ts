/**
 * The steps of a commit: each leaves what it took away under a temporary name, so that all of them can be taken back as long
 * as the last one is not done.
 *
 * A replaced file is exchanged with its successor in one system call, and what came out is compared with what was checked
 * before: a change that slipped in between is put back, and the commit ends there.
 */
import { closeSync, constants, fchmodSync, openSync, writeSync } from 'node:fs';
import type { PathState, StagedChange } from '../../changes/change-set.ts';
import { nameOfText } from '../../changes/path-name.ts';
import {
  type DirectoryEntry,
  type InnerEntry,
  linkEntry,
  makeDirectory,
  makeLink,
  openEntry,
  openSubdirectory,
  removeDirectory,
  removeFile,
  renameEntry,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS } from '../descriptors/file-content.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { copyContent } from '../files/copy-content.ts';
import { keepOwner, temporaryEntry } from '../files/temporary-file.ts';
import { type HeldFolders, isSame, type SeenState } from './held-folders.ts';

export interface PlannedChange extends StagedChange {
  readonly folders: HeldFolders;
  readonly seen: SeenState;
}

/** Thrown when something is not what it was a moment ago; the commit is taken back. */
export class Slipped extends Error {
  readonly path: string;

  constructor(path: string) {
    super('changed meanwhile');
    this.path = path;
  }
}

const BUILDING_MODE = 0o700;

/** Aside: the name under which something lies that was taken away. */
interface Aside {
  readonly folders: HeldFolders;
  readonly path: string;
}

export class CommitSteps {
  readonly #undo: (() => void)[] = [];
  readonly #asides: Aside[] = [];
  readonly #staged = new Map<PlannedChange, string>();
  readonly #touched = new Map<string, PlannedChange>();
  readonly #disk: Disk;
  /** Folders that will be gone: nothing may be set aside in them. */
  readonly #leaving: ReadonlySet<string>;

  constructor(disk: Disk, changes: readonly PlannedChange[]) {
    this.#disk = disk;
    this.#leaving = new Set(changes.filter(isLeavingFolder).map(({ path }) => path));
  }

  /** New files and links get their content under a temporary name beside the place where they belong. */
  async stage(change: PlannedChange): Promise<void> {
    const { after, folders, path } = change;
    if ((after.kind !== 'file' && after.kind !== 'link') || this.#staged.has(change)) return;
    const place = folders.entry(path);
    const temporary = temporaryEntry(place.dirFd, folders.root);
    const beside = joined(parentOf(path), temporary.name);
    this.#staged.set(change, beside);
    if (after.kind === 'link') makeLink(temporary, Buffer.from(nameOfText(after.target)));
    else await this.#write(temporary, change, after);
  }

  async #write(temporary: DirectoryEntry, change: PlannedChange, after: PathState & { kind: 'file' }): Promise<void> {
    const { source, seen } = change;
    if (source === undefined) throw new TypeError(`No content for ${change.path}`);
    const fd = openEntry(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      if ('bytes' in source) {
        for (let done = 0; done < source.bytes.length; ) done += writeSync(fd, source.bytes, done);
      } else {
        await copyFrom(source.file, fd, after.digest);
      }
      if (seen.stat?.isFile()) keepOwner(fd, { uid: Number(seen.stat.uid), gid: Number(seen.stat.gid) });
      fchmodSync(fd, after.mode & PERMISSION_BITS);
      await this.#disk.content(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** Takes away what stands where something else, or nothing, is to be. Deepest paths first. */
  remove(change: PlannedChange): void {
    const { before, after, folders, path, seen } = change;
    if (before.kind === 'absent' || (before.kind === after.kind && before.kind === 'folder')) return;
    if (before.kind !== 'folder' && after.kind !== 'absent' && after.kind !== 'folder') return;
    this.#touched.set(path, change);
    if (before.kind === 'folder') {
      removeDirectory(folders.entry(path));
      folders.forget(path);
      this.#undo.push(() => makeFolder(folders.entry(path), before.mode));
      return;
    }
    const aside = this.#asideFor(change);
    renameEntry(folders.entry(path), folders.entry(aside));
    this.#keepAside(change, aside);
    if (!isSame(statEntry(folders.entry(aside)), seen.stat)) throw new Slipped(path);
  }

  /** A free temporary name in the nearest folder that stays. */
  #asideFor({ folders, path }: PlannedChange): string {
    let folder = parentOf(path);
    while (this.#leaving.has(folder)) folder = parentOf(folder);
    const { name } = temporaryEntry(folders.entry(joined(folder, 'x')).dirFd, folders.root);
    return joined(folder, name);
  }

  /** Outermost folders first. */
  makeFolder(change: PlannedChange): void {
    const { before, after, folders, path } = change;
    if (after.kind !== 'folder') return;
    this.#touched.set(path, change);
    if (before.kind === 'folder') return;
    if (!makeDirectory(folders.entry(path), BUILDING_MODE)) throw new Slipped(path);
    this.#undo.push(() => {
      removeDirectory(folders.entry(path));
      folders.forget(path);
    });
  }

  /** Innermost folders first, when everything is in them: the mode may forbid more. */
  closeFolder({ before, after, folders, path }: PlannedChange): void {
    if (after.kind !== 'folder') return;
    setMode(folders.entry(path), after.mode);
    if (before.kind === 'folder') this.#undo.push(() => setMode(folders.entry(path), before.mode));
    else this.#undo.push(() => setMode(folders.entry(path), BUILDING_MODE));
  }

  /** Gives a staged file or link its name. */
  async publish(change: PlannedChange): Promise<void> {
    const { before, after, folders, path, seen } = change;
    if (after.kind !== 'file' && after.kind !== 'link') return;
    await this.stage(change);
    const beside = this.#staged.get(change) ?? '';
    this.#touched.set(path, change);
    const [from, to] = [folders.entry(beside), folders.entry(path)];
    if (before.kind === 'absent' || before.kind === 'folder') {
      publishNew(folders, from, to, path);
      this.#staged.delete(change);
      this.#undo.push(() => removeFile(folders.entry(path)));
      return;
    }
    const aside = joined(parentOf(path), replace(folders, from, to));
    this.#staged.delete(change);
    this.#keepAside(change, aside);
    if (!isSame(statEntry(folders.entry(aside)), seen.stat)) throw new Slipped(path);
  }

  /** Newest first. A step that cannot be taken back leaves the rest of them to be taken back. */
  rollBack(): unknown {
    // What is not published yet lies in folders that may have to go.
    for (const [{ folders }, path] of this.#staged) removeQuietly(folders, path);
    let failed: unknown;
    for (const undo of this.#undo.splice(0).reverse()) {
      try {
        undo();
      } catch (thrown) {
        failed ??= thrown;
      }
    }
    this.#asides.length = 0;
    return failed;
  }

  /** Folders are synced where that is asked for, then what was taken away is removed for good. */
  async settle(): Promise<void> {
    if (this.#disk.isFull) {
      for (const { folders, path } of this.#touched.values()) {
        const place = folders.find(path);
        if (place !== undefined) await this.#disk.settle([place.dirFd]);
      }
    }
    for (const { folders, path } of this.#asides) removeQuietly(folders, path);
  }

  #keepAside({ folders, path }: PlannedChange, aside: string): void {
    this.#asides.push({ folders, path: aside });
    this.#undo.push(() => renameEntry(folders.entry(aside), folders.entry(path)));
  }
}

function isLeavingFolder({ before, after }: PlannedChange): boolean {
  return before.kind === 'folder' && after.kind !== 'folder';
}

/** '' for the root. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

async function copyFrom(file: string, to: number, digest: string): Promise<void> {
  const from = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { sha256 } = await copyContent(from, to, undefined);
    // Not what was promised: the source was written to.
    if (sha256 !== digest) throw new ErrnoError('ESTALE');
  } finally {
    closeSync(from);
  }
}

function makeFolder(entry: InnerEntry, mode: number): boolean {
  if (!makeDirectory(entry, BUILDING_MODE)) return false;
  setMode(entry, mode);
  return true;
}

function setMode(entry: InnerEntry, mode: number): void {
  const fd = openSubdirectory(entry);
  try {
    setDirectoryMode(fd, mode & PERMISSION_BITS);
  } finally {
    closeSync(fd);
  }
}

/** A link fails where the name is taken; the kernel's own flag does the same in one step. */
function publishNew(folders: HeldFolders, from: InnerEntry, to: InnerEntry, path: string): void {
  try {
    if (isText(from) && isText(to)) {
      folders.root.rename(from, to, 'noreplace');
      return;
    }
    linkEntry(from, to);
    removeFile(from);
  } catch (thrown) {
    throw errnoCode(thrown) === 'EEXIST' ? new Slipped(path) : thrown;
  }
}

/** Answers the name under which the old content lies now. */
function replace(folders: HeldFolders, from: InnerEntry, to: InnerEntry): string {
  const temporary = String(from.name);
  if (isText(from) && isText(to)) {
    try {
      folders.root.rename(from, to, 'exchange');
      return temporary;
    } catch (thrown) {
      if (errnoCode(thrown) !== 'ENOTSUP') throw thrown;
    }
  }
  const aside = temporaryEntry(to.dirFd, folders.root);
  linkEntry(to, aside);
  renameEntry(from, to);
  return aside.name;
}

function isText(entry: InnerEntry): entry is DirectoryEntry {
  return typeof entry.name === 'string';
}

function removeQuietly(folders: HeldFolders, path: string): void {
  try {
    removeFile(folders.entry(path));
  } catch {
    // Gone, or not removable now: the sweep of temporary names takes it.
  }
}
