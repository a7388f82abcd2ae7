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
import type { MaybePromise } from '../../contracts/workspace.ts';
import {
  type DirectoryEntry,
  makeDirectory,
  makeLink,
  openEntry,
  removeDirectory,
  removeFile,
  renameEntry,
  statEntry,
} from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS } from '../descriptors/file-content.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { copyContent } from '../files/copy-content.ts';
import { keepOwner, temporaryEntry } from '../files/temporary-file.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { type HeldFolders, isSame, type SeenState, stampOf } from './held-folders.ts';
import { BUILDING_MODE, isText, makeFolder, publishNew, replace, Slipped, setMode } from './name-entry.ts';

export interface PlannedChange extends StagedChange {
  readonly folders: HeldFolders;
  readonly seen: SeenState;
}

const MAX_ORIGINS = 64;

/** Aside: the name under which something lies that was taken away. */
interface Aside {
  readonly folders: HeldFolders;
  readonly path: string;
}

export class CommitSteps {
  readonly #undo: (() => void)[] = [];
  readonly #asides: Aside[] = [];
  readonly #staged = new Map<PlannedChange, string>();
  /** By folder: one change of a name in it. */
  readonly #touched = new Map<string, PlannedChange>();
  /** Folders that files are moved from, by path. */
  readonly #origins = new Map<string, number>();
  readonly #disk: Disk;
  /** Folders that will be gone: nothing may be set aside in them. */
  readonly #leaving: ReadonlySet<string>;
  /** Folders that came as they are, and those below them. */
  readonly #moved = new Set<string>();
  /** Could not be moved. */
  readonly #isCopied = new Set<PlannedChange>();

  constructor(disk: Disk, changes: readonly PlannedChange[]) {
    this.#disk = disk;
    this.#leaving = new Set(changes.filter(isLeavingFolder).map(({ path }) => path));
  }

  /** New files and links get their content under a temporary name beside the place where they belong. */
  stage(change: PlannedChange): MaybePromise<void> {
    const { after, folders, path } = change;
    if ((after.kind !== 'file' && after.kind !== 'link') || this.#staged.has(change)) return;
    if (isMovable(change) && !this.#isCopied.has(change)) return;
    const place = folders.entry(path);
    const temporary = temporaryEntry(place.dirFd, folders.root);
    const beside = joined(parentOf(path), temporary.name);
    this.#staged.set(change, beside);
    if (after.kind !== 'link') return this.#write(temporary, change, after);
    makeLink(temporary, Buffer.from(nameOfText(after.target)));
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

  /** Takes away what is where something else, or nothing, is to be. Deepest paths first. */
  remove(change: PlannedChange): void {
    const { before, after, folders, path, seen } = change;
    if (before.kind === 'absent' || (before.kind === after.kind && before.kind === 'folder')) return;
    if (before.kind !== 'folder' && after.kind !== 'absent' && after.kind !== 'folder') return;
    this.#touch(change);
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

  /** Outermost folders first. One that may be moved comes with all that is staged below it. */
  makeFolder(change: PlannedChange): void {
    const { before, after, folders, path } = change;
    if (after.kind !== 'folder') return;
    if (this.#isMoved(change) || this.#moveFolder(change)) {
      this.#moved.add(path);
      return;
    }
    this.#touch(change);
    if (before.kind === 'folder') return;
    if (!makeDirectory(folders.entry(path), BUILDING_MODE)) throw new Slipped(path);
    folders.noteMade();
    this.#undo.push(() => {
      removeDirectory(folders.entry(path));
      folders.forget(path);
    });
  }

  /** Innermost folders first, when everything is in them: the mode may forbid more. */
  closeFolder({ before, after, folders, path }: PlannedChange): void {
    if (after.kind !== 'folder' || this.#moved.has(path)) return;
    setMode(folders.entry(path), after.mode);
    if (before.kind === 'folder') this.#undo.push(() => setMode(folders.entry(path), before.mode));
    else this.#undo.push(() => setMode(folders.entry(path), BUILDING_MODE));
  }

  /** Gives a staged file or link its name. */
  publish(change: PlannedChange): MaybePromise<void> {
    const { after } = change;
    if ((after.kind !== 'file' && after.kind !== 'link') || this.#isMoved(change)) return;
    if (isMovable(change)) {
      const moving = this.#disk.isFull ? this.#syncAndMove(change) : this.#move(change);
      if (moving instanceof Promise) return moving.then((isMoved) => (isMoved ? undefined : this.#publish(change)));
      if (moving) return;
    }
    return this.#publish(change);
  }

  async #publish(change: PlannedChange): Promise<void> {
    const { before, folders, path, seen } = change;
    await this.stage(change);
    const beside = this.#staged.get(change) ?? '';
    this.#touch(change);
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

  /** It came with its folder. */
  #isMoved({ path }: PlannedChange): boolean {
    return this.#moved.size > 0 && this.#moved.has(parentOf(path));
  }

  /**
   * A new folder that is in the upper layer exactly as it will be: one rename instead of one for each file. After a kill all of
   * it is in its place, or all of it is where the record says. Not under `full`, where each file is synced before it gets its name.
   */
  #moveFolder({ before, folders, path, source }: PlannedChange): boolean {
    if (source === undefined || !('file' in source) || source.stamp === undefined) return false;
    if (before.kind !== 'absent' || this.#disk.isFull) return false;
    const [from, to] = [this.#originOf(source.file), folders.entry(path)];
    const stat = statEntry(from);
    if (stat === undefined || stampOf(stat) !== source.stamp || !isText(to)) return false;
    try {
      folders.root.rename(from, to, 'noreplace');
    } catch (thrown) {
      if (errnoCode(thrown) === 'EEXIST') throw new Slipped(path);
      // Another file system, or one without such renames: file by file.
      return false;
    }
    folders.noteMade();
    this.#undo.push(() => {
      folders.forget(path);
      folders.root.rename(folders.entry(path) as DirectoryEntry, this.#originOf(source.file), 'noreplace');
    });
    return true;
  }

  async #syncAndMove(change: PlannedChange): Promise<boolean> {
    const { source } = change;
    if (source !== undefined && 'file' in source) {
      try {
        await this.#sync(this.#originOf(source.file));
      } catch (thrown) {
        // Not there any more: it is copied from where it is, which says so.
        if (errnoCode(thrown) === undefined) throw thrown;
        this.#isCopied.add(change);
        return false;
      }
    }
    return this.#move(change);
  }

  /** One rename, and it can be done again after a kill: until then the content is where the record says. False: copy it. */
  #move(change: PlannedChange): boolean {
    const { before, folders, path, seen, source } = change;
    if (source === undefined || !('file' in source)) return false;
    const [from, to] = [this.#originOf(source.file), folders.entry(path)];
    const stat = statEntry(from);
    const isNew = before.kind === 'absent' || before.kind === 'folder';
    try {
      if (stat === undefined || stampOf(stat) !== source.stamp || !isText(to)) throw new ErrnoError('ESTALE');
      folders.root.rename(from, to, isNew ? 'noreplace' : 'exchange');
    } catch (thrown) {
      if (errnoCode(thrown) === 'EEXIST') throw new Slipped(path);
      // Another file system, one without such renames, or not the file that was looked at: its content is copied and compared.
      this.#isCopied.add(change);
      return false;
    }
    this.#touch(change);
    if (isNew) this.#undo.push(() => removeFile(folders.entry(path)));
    else {
      const back = () =>
        folders.root.rename(this.#originOf(source.file), folders.entry(path) as DirectoryEntry, 'exchange');
      this.#undo.push(back);
      if (!isSame(statEntry(from), seen.stat)) throw new Slipped(path);
    }
    return true;
  }

  #originOf(file: string): DirectoryEntry {
    const at = file.lastIndexOf('/');
    const folder = file.slice(0, at);
    if (this.#origins.size >= MAX_ORIGINS && !this.#origins.has(folder)) this.close();
    const dirFd = this.#origins.get(folder) ?? openSync(folder, DIRECTORY_HANDLE);
    this.#origins.set(folder, dirFd);
    return { dirFd, name: file.slice(at + 1) };
  }

  async #sync(entry: DirectoryEntry): Promise<void> {
    const fd = openEntry(entry, constants.O_RDONLY);
    try {
      await this.#disk.content(fd);
    } finally {
      closeSync(fd);
    }
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

  /** Closes the folders that files were moved from. */
  close(): void {
    for (const fd of this.#origins.values()) closeSync(fd);
    this.#origins.clear();
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

  /** A folder is synced once, however many names in it changed. */
  #touch(change: PlannedChange): void {
    this.#touched.set(`${change.folders.root.path}/${parentOf(change.path)}`, change);
  }

  #keepAside({ folders, path }: PlannedChange, aside: string): void {
    this.#asides.push({ folders, path: aside });
    this.#undo.push(() => renameEntry(folders.entry(aside), folders.entry(path)));
  }
}

/** Its content is in a file of ours that may itself be put in place. */
function isMovable({ source }: PlannedChange): boolean {
  return source !== undefined && 'file' in source && source.stamp !== undefined;
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

function removeQuietly(folders: HeldFolders, path: string): void {
  try {
    removeFile(folders.entry(path));
  } catch {
    // Gone, or not removable now: the sweep of temporary names takes it.
  }
}
