/**
 * A copy of the workspace for a transaction, where no overlay can be mounted.
 *
 * Files share their blocks with the workspace where the file system can do that. Links are copied as text. Devices, pipes,
 * sockets, files that may not be read and the objects of git are left out; a transaction that writes to one of these names
 * finds a conflict at its commit.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  copyFile,
  copyFileSync,
  fchmodSync,
  fstatSync,
  futimesSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { textOfName } from '../../changes/path-name.ts';
import { isTemporaryName } from '../../contracts/path-text.ts';
import { stampOf } from '../commit/held-folders.ts';
import {
  type InnerEntry,
  type ListedEntry,
  makeDirectory,
  makeLink,
  openEntry,
  openSubdirectory,
  readLinkBytes,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { PERMISSION_BITS, SMALL_FILE_BYTES } from '../descriptors/file-content.ts';
import { identityOf } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import { modeOf } from './upper-entry.ts';

export interface CopyLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface WorkspaceCopy {
  /** Descriptors of folders; the second is empty. */
  readonly from: number;
  readonly to: number;
  /** `device:inode` of files and folders that may not be read. */
  readonly hidden: ReadonlySet<string>;
  readonly limits: CopyLimits;
  readonly signal: AbortSignal | undefined;
}

/** One name when it was copied. */
export interface CopiedEntry {
  /** What it was in the workspace. */
  readonly source: string;
  /** What it is in the copy until someone changes it; of a folder its mode. */
  readonly own: string;
}

/** By path, and the names in each folder. */
export interface CopyManifest {
  readonly entries: ReadonlyMap<string, CopiedEntry>;
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
}

const MAX_DEPTH = 250;
const GIT_FOLDER = '.git';
/** Large, never changed by tools, and read by git alone. */
const GIT_STORES = new Set<string | Buffer>(['objects', 'lfs', 'modules']);
const CLONE = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
const BUILDING_MODE = 0o700;
const NANOSECONDS = 1e9;
const BIG = { bigint: true } as const;
const copyLarge = promisify(copyFile);

export class TooLargeToCopy extends Error {}

/** Throws TooLargeToCopy. What vanishes meanwhile is not in the copy. */
export async function copyWorkspace(copy: WorkspaceCopy): Promise<CopyManifest> {
  const copier = new Copier(copy);
  await copier.folder({ listed: await listEntries(copy.from), to: copy.to, path: '', depth: 1, name: '' });
  return copier;
}

export function ownOfFolder(stat: BigIntStats): string {
  return `folder ${modeOf(stat)}`;
}

interface Folders {
  readonly listed: readonly ListedEntry[];
  readonly to: number;
  readonly path: string;
  readonly depth: number;
  readonly name: string | Buffer;
}

class Copier implements CopyManifest {
  readonly entries = new Map<string, CopiedEntry>();
  readonly names = new Map<string, ReadonlySet<string>>();
  readonly #copy: WorkspaceCopy;
  readonly #pace: Pace;
  #bytes = 0;

  constructor(copy: WorkspaceCopy) {
    this.#copy = copy;
    this.#pace = new Pace(copy.signal);
  }

  async folder({ listed, to, path, depth, name }: Folders): Promise<void> {
    if (depth > MAX_DEPTH) throw new TooLargeToCopy(`folders deeper than ${MAX_DEPTH}`);
    const names = new Set<string>();
    this.names.set(path, names);
    for (const entry of listed) {
      if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
      if (isTemporaryName(entry.name) || (name === GIT_FOLDER && GIT_STORES.has(entry.name))) continue;
      const text = textOfName(entry.name);
      const at = { path: path === '' ? text : `${path}/${text}`, depth: depth + 1 };
      const copied = await this.#entry(entry, { dirFd: to, name: entry.name }, at);
      if (copied === undefined) continue;
      names.add(text);
      this.entries.set(at.path, copied);
      const { entries } = this.#copy.limits;
      if (this.entries.size > entries) throw new TooLargeToCopy(`more than ${entries} entries`);
    }
  }

  async #entry(
    entry: ListedEntry,
    target: InnerEntry,
    at: Pick<Folders, 'path' | 'depth'>,
  ): Promise<CopiedEntry | undefined> {
    try {
      const stat = statEntry(entry);
      if (stat === undefined || this.#copy.hidden.has(identityOf(stat))) return undefined;
      if (stat.isDirectory()) return await this.#innerFolder(entry, target, { ...at, stat });
      if (stat.isFile()) return await this.#file(entry, target);
      if (!stat.isSymbolicLink()) return undefined;
      makeLink(target, readLinkBytes(entry));
      return { source: stampOf(stat), own: stampAt(target) };
    } catch (thrown) {
      // Gone, replaced by something else, or not ours to read.
      if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EACCES', 'EPERM'].includes(errnoCode(thrown) ?? '')) throw thrown;
      return undefined;
    }
  }

  async #innerFolder(
    entry: ListedEntry,
    target: InnerEntry,
    { stat, path, depth }: Pick<Folders, 'path' | 'depth'> & { readonly stat: BigIntStats },
  ): Promise<CopiedEntry> {
    const from = openSubdirectory(entry);
    try {
      const listed = await listEntries(from);
      if (!makeDirectory(target, BUILDING_MODE)) throw new ErrnoError('EEXIST');
      const to = openSubdirectory(target);
      try {
        await this.folder({ listed, to, path, depth, name: entry.name });
        // Last, because a folder without write permission could not be filled.
        setDirectoryMode(to, modeOf(stat));
      } finally {
        closeSync(to);
      }
    } finally {
      closeSync(from);
    }
    return { source: stampOf(stat), own: ownOfFolder(stat) };
  }

  async #file(entry: ListedEntry, target: InnerEntry): Promise<CopiedEntry | undefined> {
    const from = openEntry(entry, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(from, BIG);
      if (!stat.isFile()) return undefined;
      this.#bytes += Number(stat.size);
      const { bytes } = this.#copy.limits;
      if (this.#bytes > bytes) throw new TooLargeToCopy(`more than ${bytes / 1024 ** 2} MiB`);
      // The open file under a name: what is at its path may be another one by now.
      const [source, place] = [`/proc/self/fd/${from}`, pathOf(target)];
      if (stat.size <= SMALL_FILE_BYTES) copyFileSync(source, place, CLONE);
      else await copyLarge(source, place, CLONE);
      return { source: stampOf(stat), own: finishFile(target, stat) };
    } finally {
      closeSync(from);
    }
  }
}

/** Mode and times as they were; answers what it is now. */
function finishFile(target: InnerEntry, stat: BigIntStats): string {
  const fd = openEntry(target, constants.O_RDONLY);
  try {
    fchmodSync(fd, Number(stat.mode) & PERMISSION_BITS);
    futimesSync(fd, Number(stat.atimeNs) / NANOSECONDS, Number(stat.mtimeNs) / NANOSECONDS);
    return stampOf(fstatSync(fd, BIG));
  } finally {
    closeSync(fd);
  }
}

function stampAt(entry: InnerEntry): string {
  const stat = statEntry(entry);
  if (stat === undefined) throw new ErrnoError('ENOENT');
  return stampOf(stat);
}

function pathOf({ dirFd, name }: InnerEntry): string | Buffer {
  if (typeof name === 'string') return `/proc/self/fd/${dirFd}/${name}`;
  return Buffer.concat([Buffer.from(`/proc/self/fd/${dirFd}/`), name]);
}
