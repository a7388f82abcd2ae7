/** One entry of the upper folder: what is at its name, and its content as a change takes it over. */
import { type BigIntStats, chmodSync, closeSync, constants, fstatSync } from 'node:fs';
import type { ContentSource, PathState } from '../../changes/change-set.ts';
import { textOfName } from '../../changes/path-name.ts';
import type { FileContent, MaybePromise } from '../../contracts/workspace.ts';
import { stampOf } from '../commit/held-folders.ts';
import {
  type InnerEntry,
  type ListedEntry,
  openEntry,
  readLinkBytes,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS, readContent } from '../descriptors/file-content.ts';
import type { NativeCalls } from '../descriptors/native-calls.ts';

const MAX_NAMELESS_BYTES = 16 * 1024 ** 2;
const BIG = { bigint: true } as const;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

export interface UpperEntry {
  readonly stat: BigIntStats;
  /** Of a file, open for reading; the reader closes it. */
  readonly fd: number | undefined;
}

/** Undefined when it is gone. A file is opened at once: that saves looking it up by its name a second time. */
export function openUpper(
  { type, ...entry }: ListedEntry,
  native: Pick<NativeCalls, 'openBeneath'>,
): UpperEntry | undefined {
  // Half the price of opening it through /proc.
  const fd =
    type === 'file' && typeof entry.name === 'string' ? native.openBeneath(entry.dirFd, entry.name, READ, 0) : -1;
  // Less than zero: its owner may not read it, or its name is no text.
  if (fd >= 0) return { stat: fstatSync(fd, BIG), fd };
  const stat = statEntry(entry);
  return stat && { stat, fd: undefined };
}

export function closeUpper({ fd }: UpperEntry): void {
  if (fd !== undefined) closeSync(fd);
}

export function nulPath({ dirFd, name }: InnerEntry): Buffer {
  if (typeof name === 'string') return Buffer.from(`/proc/self/fd/${dirFd}/${name}\0`);
  return Buffer.concat([Buffer.from(`/proc/self/fd/${dirFd}/`), name, Buffer.of(0)]);
}

export function isWhiteout(stat: BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

export function kindProblem(stat: BigIntStats): string | undefined {
  if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return undefined;
  if (stat.isFIFO()) return 'pipe';
  return stat.isSocket() ? 'socket' : 'device';
}

export function modeOf(stat: BigIntStats): number {
  return Number(stat.mode) & PERMISSION_BITS;
}

/** Undefined for devices, pipes and sockets. */
export async function stateOf(entry: InnerEntry, stat: BigIntStats): Promise<PathState | undefined> {
  if (!stat.isFile()) return plainState(entry, stat);
  const { sha256, size, mode } = await readContent(openEntry(entry, constants.O_RDONLY), { maxBytes: 0 });
  return { kind: 'file', digest: sha256, size, mode };
}

/** Of what has no content. */
function plainState(entry: InnerEntry, stat: BigIntStats): PathState | undefined {
  if (stat.isSymbolicLink()) return { kind: 'link', target: textOfName(readLinkBytes(entry)) };
  return stat.isDirectory() ? { kind: 'folder', mode: modeOf(stat) } : undefined;
}

export interface UpperContent {
  /** Undefined: a file that can neither be named by a path nor kept in memory. */
  readonly state?: PathState | undefined;
  readonly source?: ContentSource;
}

export interface UpperLeaf {
  readonly entry: InnerEntry;
  readonly upper: UpperEntry;
  /** Absolute; undefined below a name that is no text. */
  readonly file: string | undefined;
}

/** Closes the entry. */
export function contentOf({ entry, upper, file }: UpperLeaf, isMovable: boolean): MaybePromise<UpperContent> {
  const { stat } = upper;
  if (!stat.isFile()) return { state: plainState(entry, stat) };
  const isNamed = file !== undefined;
  if (!isNamed && stat.size > MAX_NAMELESS_BYTES) {
    closeUpper(upper);
    return {};
  }
  const fd = upper.fd ?? openUnreadable(entry, stat);
  const read = readContent(fd, isNamed ? { maxBytes: 0 } : {}, { size: Number(stat.size), mode: modeOf(stat) });
  const found = (content: FileContent): UpperContent => {
    const state: PathState = { kind: 'file', digest: content.sha256, size: content.size, mode: modeOf(stat) };
    if (!isNamed) return { state, source: { bytes: content.bytes } };
    return { state, source: isMovable ? { file, stamp: stampOf(stat) } : { file } };
  };
  return read instanceof Promise ? read.then(found) : found(read);
}

/** Ours, in the upper folder: the mode that counts has been read already. */
function openUnreadable(entry: InnerEntry, stat: BigIntStats): number {
  if ((Number(stat.mode) & 0o400) === 0) {
    const path = Buffer.concat([Buffer.from(`/proc/self/fd/${entry.dirFd}/`), Buffer.from(entry.name)]);
    chmodSync(path, modeOf(stat) | 0o400);
  }
  return openEntry(entry, constants.O_RDONLY);
}
