/**
 * What a command wrote on its overlay, as changes of the workspace.
 *
 * The upper folder holds what was written, a device 0/0 for what was deleted, and an attribute on a folder that hides what
 * is below it in the workspace. Only files, links and folders are taken over, with permission bits; devices, pipes, sockets,
 * set-user-id bits and protected names never are. What a file was before is read from the workspace; where that was
 * changed since the overlay was mounted, it is not known what the command has seen, and it is a conflict.
 */
import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { ABSENT, type ContentSource, type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import { textOfName } from '../../changes/path-name.ts';
import type { LeftOutEntry } from '../../contracts/commands.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { stampOf } from '../commit/held-folders.ts';
import {
  type InnerEntry,
  type ListedEntry,
  openSubdirectory,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import type { NativeCalls } from '../descriptors/native-calls.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import {
  closeUpper,
  contentOf,
  isWhiteout,
  kindProblem,
  modeOf,
  nulPath,
  openUpper,
  stateOf,
  type UpperContent,
  type UpperEntry,
} from './upper-entry.ts';

export interface UpperLayer {
  /** Absolute. No process may write there any more. */
  readonly upper: string;
  readonly native: Pick<NativeCalls, 'openBeneath' | 'readAttribute' | 'attributeBytes' | 'openAttributeBytes'>;
  /** Descriptor of the workspace. */
  readonly lower: number;
  /** What the workspace holds counts as unchanged when it was last changed at this time or before. */
  readonly sinceNs: bigint;
  /** Paths below the workspace that are never taken over, nor anything below them. */
  readonly protectedNames: readonly string[];
  /** Paths of which is known what they were before. */
  readonly known?: ReadonlySet<string>;
  readonly limits?: Partial<EffectsLimits>;
  readonly signal?: AbortSignal | undefined;
}

export interface EffectsLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface CollectedEffects {
  /** Sorted by path. */
  readonly changes: readonly StagedChange[];
  readonly leftOut: readonly LeftOutEntry[];
  /** Paths that the command and someone else changed. */
  readonly conflicts: readonly string[];
}

export const EFFECTS_LIMITS: EffectsLimits = { entries: 50_000, bytes: 2 * 1024 ** 3 };
const MAX_DEPTH = 250;
const MAX_LEFT_OUT = 100;
const BIG = { bigint: true } as const;
const SET_ID_BITS = 0o6000;
const OPAQUE = 'user.overlay.opaque';
const ORIGIN = 'user.overlay.origin';
const WHITEOUT = 'user.overlay.whiteout';
const DEFAULT_ACL = 'system.posix_acl_default';
const OWN_IDS = [BigInt(process.geteuid?.() ?? 0), BigInt(process.getegid?.() ?? 0)] as const;

/** Throws E_SHELL when there is more than the limits allow; nothing is changed by looking. */
export async function collectUpper(layer: UpperLayer): Promise<CollectedEffects> {
  const collector = new Collector(layer);
  const upper = openSync(layer.upper, DIRECTORY_HANDLE);
  try {
    await collector.folder({ upper, lower: layer.lower, path: '', file: layer.upper, isPlain: true }, 1);
  } finally {
    closeSync(upper);
  }
  return collector.result();
}

interface FolderPair {
  readonly upper: number;
  /** Undefined: nothing of the workspace shows through. */
  readonly lower: number | undefined;
  readonly path: string;
  /** The upper folder's absolute path; undefined below a name that is no text. */
  readonly file: string | undefined;
  /** New files take nothing over from the folder of the workspace that they come into: no group, no access list. */
  readonly isPlain: boolean;
}

interface Found {
  readonly isPlain: boolean;
  readonly entry: InnerEntry;
  readonly upper: UpperEntry;
  readonly stat: BigIntStats;
  readonly isFile: boolean;
  readonly path: string;
  readonly file: string | undefined;
  readonly below: { readonly entry: InnerEntry; readonly stat: BigIntStats } | undefined;
  /** Someone added or removed names in its folder of the workspace while the command ran. */
  readonly isFolderChanged: boolean;
}

class Collector {
  readonly #layer: UpperLayer;
  readonly #limits: EffectsLimits;
  readonly #pace: Pace;
  readonly #changes: StagedChange[] = [];
  readonly #leftOut: LeftOutEntry[] = [];
  readonly #conflicts: string[] = [];
  #entries = 0;
  #bytes = 0;
  /** Entries that cannot be taken over by moving the folder they are in. */
  #apart = 0;

  constructor(layer: UpperLayer) {
    this.#layer = layer;
    this.#limits = { ...EFFECTS_LIMITS, ...layer.limits };
    this.#pace = new Pace(layer.signal);
  }

  result(): CollectedEffects {
    const changes = this.#changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    return { changes, leftOut: this.#leftOut, conflicts: this.#conflicts };
  }

  async folder(pair: FolderPair, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw tooMuch(`folders deeper than ${MAX_DEPTH}`);
    const names = new Set<string>();
    const lower = pair.lower === undefined ? undefined : fstatSync(pair.lower, BIG);
    const changed = lower !== undefined && lower.mtimeNs > this.#layer.sinceNs;
    const isPlain = lower === undefined ? pair.isPlain : !this.#handsDown(lower, pair.lower ?? -1);
    const inside = { ...pair, isPlain, isFolderChanged: changed };
    for (const entry of await listEntries(pair.upper)) {
      const text = textOfName(entry.name);
      if (pair.lower !== undefined) names.add(text);
      const taking = this.#entry(inside, entry, { text, depth });
      if (taking instanceof Promise) await taking;
      if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
    }
    if (pair.lower === undefined || !this.#isOpaque(pair.upper)) return;
    for (const { name } of await listEntries(pair.lower)) {
      const text = textOfName(name);
      if (!names.has(text)) await this.#removed({ dirFd: pair.lower, name }, joined(pair.path, text), depth);
    }
  }

  /** Small new files, which are most of what commands write, are taken without a wait. */
  #entry(
    pair: FolderPair & Pick<Found, 'isFolderChanged'>,
    entry: ListedEntry,
    { text, depth }: { readonly text: string; readonly depth: number },
  ): MaybePromise<void> {
    this.#count();
    const upper = openUpper(entry, this.#layer.native);
    if (upper === undefined) return;
    let isOpen = true;
    try {
      const { stat } = upper;
      const path = joined(pair.path, text);
      const lowerEntry = pair.lower === undefined ? undefined : { dirFd: pair.lower, name: entry.name };
      const lowerStat = lowerEntry && statEntry(lowerEntry);
      const below = lowerEntry && lowerStat && { entry: lowerEntry, stat: lowerStat };
      const isFile = stat.isFile();
      if (!isFile && isWhiteout(stat)) {
        this.#apart += 1;
        return below && this.#removed(below.entry, path, depth);
      }
      const { isPlain, isFolderChanged } = pair;
      const file = typeof entry.name === 'string' && pair.file !== undefined ? `${pair.file}/${text}` : undefined;
      const found: Found = { entry, upper, stat, isFile, path, file, below, isPlain, isFolderChanged };
      if (!this.#isAllowed(found)) return;
      if (!isFile && stat.isDirectory()) return this.#folderEntry(found, depth);
      if (this.#isRenamed(found)) {
        this.#conflicts.push(path);
        return;
      }
      if (isFile) this.#measure(stat.size);
      isOpen = false;
      return this.#leaf(found, depth);
    } finally {
      if (isOpen) closeUpper(upper);
    }
  }

  /** A file of the workspace that is not at this name there: renamed by the command, or removed by someone else. */
  #isRenamed({ below, isFolderChanged, path, entry }: Found): boolean {
    if (below !== undefined || !isFolderChanged || this.#layer.known?.has(path) === true) return false;
    return this.#hasAttribute(entry, ORIGIN);
  }

  /** Reports what it leaves out. */
  #isAllowed({ stat, isFile, path, entry, below }: Found): boolean {
    const reason = this.#protection(path, stat) ?? (isFile ? undefined : kindProblem(stat));
    if (reason !== undefined) return this.#leave(path, reason);
    if (!isFile) return true;
    if (stat.size === 0n && this.#hasAttribute(entry, WHITEOUT)) return this.#leave(path, 'overlay attribute');
    const bits = Number(stat.mode) & SET_ID_BITS & ~Number(below?.stat.mode ?? 0n);
    // A folder takes the group bit from the one it is in.
    if (bits !== 0) this.#leave(path, 'set-user-id or set-group-id bit; the file itself is kept without it');
    return true;
  }

  #protection(path: string, stat: BigIntStats): string | undefined {
    for (const name of this.#layer.protectedNames) {
      if (isAtOrBelow(path, name)) return 'protected name';
      if (isAtOrBelow(name, path) && !stat.isDirectory()) return 'in the way of a protected name';
    }
    return undefined;
  }

  async #folderEntry(found: Found, depth: number): Promise<void> {
    const { entry, stat, path, file, below, isPlain } = found;
    const upper = openSubdirectory(entry);
    const isMerged = below?.stat.isDirectory() === true;
    const lower = isMerged ? openSubdirectory(below.entry) : undefined;
    try {
      // A folder that its owner may not read; the mode that counts has been read already.
      if ((Number(stat.mode) & 0o700) !== 0o700) setDirectoryMode(upper, 0o700);
      const at = this.#changes.length;
      if (isMerged) this.#add(path, await stateOf(below.entry, below.stat), await stateOf(entry, stat));
      else await this.#replaced({ path, below, after: { kind: 'folder', mode: modeOf(stat) } }, undefined, depth);
      const [added, apart] = [this.#changes[at], this.#apart];
      await this.folder({ upper, lower, path, file, isPlain }, depth + 1);
      if (file !== undefined && added?.path === path && apart === this.#apart && this.#isMovableFolder(found))
        this.#changes[at] = { ...added, source: { file, stamp: stampOf(stat) } };
      else this.#apart += 1;
    } finally {
      closeSync(upper);
      if (lower !== undefined) closeSync(lower);
    }
  }

  /** With everything in it. */
  #isMovableFolder({ entry, stat, below, isPlain }: Found): boolean {
    if (below !== undefined || !isPlain || (Number(stat.mode) & 0o7700) !== 0o700 || !isOurs(stat)) return false;
    return this.#layer.native.attributeBytes(nulPath(entry)) === 0;
  }

  #leaf(found: Found, depth: number): MaybePromise<void> {
    const { stat, isFile, path, below } = found;
    const isMovable = isFile ? this.#isMovable(found) : isOurs(stat);
    if (!isMovable) this.#apart += 1;
    const taken = ({ state: after, source }: UpperContent): MaybePromise<void> => {
      if (after !== undefined && below === undefined) this.#add(path, ABSENT, after, source);
      else if (after !== undefined) return this.#replaced({ path, below, after }, source, depth);
      else this.#leave(path, 'larger than 16 MiB under a name that is no UTF-8');
    };
    const content = contentOf(found, isMovable);
    return content instanceof Promise ? content.then(taken) : taken(content);
  }

  /** A new entry in the place of what the workspace has there. */
  async #replaced(
    { path, below, after }: Pick<Found, 'path' | 'below'> & { readonly after: PathState },
    source: ContentSource | undefined,
    depth: number,
  ): Promise<void> {
    if (below === undefined) return this.#add(path, ABSENT, after, source);
    if (below.stat.isDirectory() && after.kind !== 'folder') await this.#removedBelow(below.entry, path, depth);
    const before = await stateOf(below.entry, below.stat);
    if (before === undefined) {
      this.#leave(path, 'the workspace has a device, a pipe or a socket there');
      return;
    }
    if (!sameState(before, after)) this.#note(path, below.stat);
    this.#add(path, before, after, source);
  }

  #add(path: string, before: PathState | undefined, after: PathState | undefined, source?: ContentSource): void {
    if (before === undefined || after === undefined || sameState(before, after)) return;
    this.#changes.push({ path, before, after, ...(source === undefined ? {} : { source }) });
  }

  /** The entry of the workspace and all that is below it. */
  async #removed(entry: InnerEntry, path: string, depth: number): Promise<void> {
    this.#count();
    if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
    const stat = statEntry(entry);
    if (stat === undefined) return;
    const reason = this.#removalProblem(path);
    if (reason !== undefined) {
      this.#leave(path, reason);
      return;
    }
    this.#note(path, stat);
    if (stat.isDirectory()) await this.#removedBelow(entry, path, depth);
    const before = await stateOf(entry, stat);
    if (before === undefined) this.#leave(path, 'a device, a pipe or a socket is not removed');
    else this.#add(path, before, ABSENT);
  }

  #removalProblem(path: string): string | undefined {
    const isProtected = this.#layer.protectedNames.some((name) => isAtOrBelow(path, name) || isAtOrBelow(name, path));
    return isProtected ? 'protected name' : undefined;
  }

  async #removedBelow(entry: InnerEntry, path: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw tooMuch(`folders deeper than ${MAX_DEPTH}`);
    const dirFd = openSubdirectory(entry);
    try {
      for (const { name } of await listEntries(dirFd)) {
        await this.#removed({ dirFd, name }, joined(path, textOfName(name)), depth + 1);
      }
    } finally {
      closeSync(dirFd);
    }
  }

  /** Changed by someone else while the command ran. A folder is changed by every name in it, so that tells nothing. */
  #note(path: string, stat: BigIntStats): void {
    if (!stat.isDirectory() && stat.ctimeNs > this.#layer.sinceNs) this.#conflicts.push(path);
  }

  #leave(path: string, reason: string): false {
    this.#apart += 1;
    if (this.#leftOut.length < MAX_LEFT_OUT) this.#leftOut.push({ path, reason });
    return false;
  }

  #count(): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.entries) throw tooMuch(`more than ${this.#limits.entries} entries`);
  }

  #measure(size: bigint): void {
    this.#bytes += Number(size);
    if (this.#bytes > this.#limits.bytes) throw tooMuch(`more than ${this.#limits.bytes} bytes`);
  }

  /** Whether the file would be the same if it had been made in its place: then it need not be copied. */
  #isMovable({ upper, stat, below, isPlain }: Found): boolean {
    if (upper.fd === undefined || stat.nlink !== 1n || (Number(stat.mode) & 0o7400) !== 0o400) return false;
    if (below?.stat.isFile() ? stat.uid !== below.stat.uid || stat.gid !== below.stat.gid : !isOurs(stat)) return false;
    return (below !== undefined || isPlain) && this.#layer.native.openAttributeBytes(upper.fd) === 0;
  }

  #handsDown(stat: BigIntStats, folder: number): boolean {
    if ((Number(stat.mode) & 0o2000) !== 0) return true;
    return (
      this.#layer.native.readAttribute(Buffer.from(`/proc/self/fd/${folder}/.\0`), DEFAULT_ACL, Buffer.alloc(0)) >= 0
    );
  }

  #isOpaque(folder: number): boolean {
    const value = Buffer.alloc(8);
    const length = this.#layer.native.readAttribute(Buffer.from(`/proc/self/fd/${folder}/.\0`), OPAQUE, value);
    return length === 1 && value[0] === 'y'.charCodeAt(0);
  }

  #hasAttribute(entry: InnerEntry, attribute: string): boolean {
    return this.#layer.native.readAttribute(nulPath(entry), attribute, Buffer.alloc(256)) >= 0;
  }
}

function isOurs({ uid, gid }: BigIntStats): boolean {
  return uid === OWN_IDS[0] && gid === OWN_IDS[1];
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function tooMuch(what: string): ToolError {
  return new ToolError('E_SHELL', `Command changed too much to be recorded: ${what}`, {
    details: {
      reason: 'effects_too_large',
      next: 'nothing was applied; run it with effects: direct, or in smaller steps',
    },
  });
}
