/**
 * Folders below a root by their names, reached one component at a time and never through a link, and what is at a name.
 *
 * Handles are kept for a while: a commit of many files asks for the same folders again and again.
 */
import { type BigIntStats, closeSync, constants } from 'node:fs';
import { ABSENT, type PathState } from '../../changes/change-set.ts';
import { nameOfText, textOfName } from '../../changes/path-name.ts';
import type { FileContent, MaybePromise } from '../../contracts/workspace.ts';
import {
  type InnerEntry,
  openEntry,
  openSubdirectory,
  readLinkBytes,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS, readContent } from '../descriptors/file-content.ts';
import type { Root } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';

const MAX_HELD = 200;

export class HeldFolders {
  readonly root: Root;
  readonly #held = new Map<string, number>();
  /** Folders that were looked for and not found. */
  readonly #missing = new Set<string>();

  constructor(root: Root) {
    this.root = root;
  }

  /** The name in its folder. ENOENT or ENOTDIR when the folder is not there. The handle may be closed after the next call. */
  entry(path: string): InnerEntry {
    const at = path.lastIndexOf('/');
    return { dirFd: this.#open(at < 0 ? '' : path.slice(0, at)), name: nameOfText(path.slice(at + 1)) };
  }

  /** Undefined when a folder on the way is missing. */
  find(path: string): InnerEntry | undefined {
    if (this.#isMissing(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))) return undefined;
    try {
      return this.entry(path);
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw thrown;
    }
  }

  /** After a folder was removed or made: its handle may be of the old one. */
  forget(path: string): void {
    for (const [held, fd] of this.#held) {
      if (held !== path && !held.startsWith(`${path}/`)) continue;
      closeSync(fd);
      this.#held.delete(held);
    }
  }

  /** After a folder was made. */
  noteMade(): void {
    this.#missing.clear();
  }

  close(): void {
    for (const fd of this.#held.values()) closeSync(fd);
    this.#held.clear();
  }

  /** Below a folder that is missing nothing is looked for. */
  #isMissing(folder: string): boolean {
    if (this.#missing.size === 0 || folder === '') return false;
    if (this.#missing.has(folder)) return true;
    if (this.#held.has(folder) || !this.#isMissing(folder.slice(0, Math.max(folder.lastIndexOf('/'), 0)))) return false;
    this.#missing.add(folder);
    return true;
  }

  #open(folder: string): number {
    const held = this.#held.get(folder);
    if (held !== undefined) return held;
    if (this.#held.size >= MAX_HELD) this.close();
    const fd = folder === '' ? this.root.open() : this.#step(folder);
    this.#held.set(folder, fd);
    return fd;
  }

  /** A link on the way is no folder: ENOTDIR. */
  #step(folder: string): number {
    if (this.#missing.has(folder)) throw new ErrnoError('ENOENT');
    try {
      return openSubdirectory(this.entry(folder));
    } catch (thrown) {
      if (errnoCode(thrown) === 'ENOENT') this.#missing.add(folder);
      throw errnoCode(thrown) === 'ELOOP' ? new ErrnoError('ENOTDIR') : thrown;
    }
  }
}

/** What is at a name, and how to recognise it later without reading it again. */
export interface SeenState {
  readonly state: PathState;
  readonly stat: BigIntStats | undefined;
}

/** Takes the content of files that are small enough for it. */
export interface ContentKeeper {
  readonly maxBytes: number;
  keep(digest: string, bytes: Uint8Array): void;
}

interface LookOptions {
  /** What was seen there a moment ago; left out, it is looked up. */
  readonly stat?: BigIntStats | undefined;
  readonly keeper?: ContentKeeper | undefined;
}

/** ENXIO for devices, sockets and pipes. */
export function lookAt(
  entry: InnerEntry | undefined,
  { keeper, stat = entry && statEntry(entry) }: LookOptions = {},
): MaybePromise<SeenState> {
  if (entry === undefined || stat === undefined) return { state: ABSENT, stat: undefined };
  if (stat.isSymbolicLink()) return { state: { kind: 'link', target: textOfName(readLinkBytes(entry)) }, stat };
  const mode = Number(stat.mode) & PERMISSION_BITS;
  if (stat.isDirectory()) return { state: { kind: 'folder', mode }, stat };
  if (!stat.isFile()) throw new ErrnoError('ENXIO');
  const isKept = keeper !== undefined && stat.size <= keeper.maxBytes;
  const seen = (read: FileContent): SeenState => {
    if (isKept) keeper.keep(read.sha256, read.bytes);
    return { state: { kind: 'file', digest: read.sha256, size: read.size, mode: read.mode }, stat };
  };
  const read = readContent(openEntry(entry, constants.O_RDONLY), isKept ? {} : { maxBytes: 0 });
  return read instanceof Promise ? read.then(seen) : seen(read);
}

/** Says that a file was not written to, nor its mode changed. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** Renaming changes the ctime, so that is left out. */
export function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.mode === other.mode
  );
}
