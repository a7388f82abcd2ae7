/**
 * What a command wrote on its overlay, as changes of the workspace.
 *
 * The upper folder holds what was written, a device 0/0 for what was deleted, and an attribute on a folder that hides what
 * is below it in the workspace. Only files, links and folders are taken over, with permission bits; devices, pipes, sockets,
 * set-user-id bits and protected names never are. What a file was before is read from the workspace; where that was
 * changed since the overlay was mounted, it is not known what the command has seen, and it is a conflict.
 */
import { type BigIntStats, chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { ABSENT, type ContentSource, type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import { textOfName } from '../../changes/path-name.ts';
import type { LeftOutEntry } from '../../contracts/commands.ts';
import {
  type InnerEntry,
  openEntry,
  openSubdirectory,
  readLinkBytes,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS, readContent } from '../descriptors/file-content.ts';
import { listEntries } from '../descriptors/list-directory.ts';
import type { NativeCalls } from '../descriptors/native-calls.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';

export interface UpperLayer {
  /** Absolute. No process may write there any more. */
  readonly upper: string;
  readonly native: Pick<NativeCalls, 'readAttribute'>;
  /** Descriptor of the workspace. */
  readonly lower: number;
  /** What the workspace holds counts as unchanged when it was last changed at this time or before. */
  readonly sinceNs: bigint;
  /** Paths below the workspace that are never taken over, nor anything below them. */
  readonly protectedNames: readonly string[];
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
const MAX_NAMELESS_BYTES = 16 * 1024 ** 2;
const BIG = { bigint: true } as const;
const SET_ID_BITS = 0o6000;
const OPAQUE = 'user.overlay.opaque';
const ORIGIN = 'user.overlay.origin';
const WHITEOUT = 'user.overlay.whiteout';

/** Throws E_SHELL when there is more than the limits allow; nothing is changed by looking. */
export async function collectUpper(layer: UpperLayer): Promise<CollectedEffects> {
  const collector = new Collector(layer);
  const upper = openSync(layer.upper, DIRECTORY_HANDLE);
  try {
    await collector.folder({ upper, lower: layer.lower, path: '', file: layer.upper }, 1);
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
}

interface Found {
  readonly entry: InnerEntry;
  readonly stat: BigIntStats;
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
    const changed = pair.lower !== undefined && fstatSync(pair.lower, BIG).mtimeNs > this.#layer.sinceNs;
    for (const { name } of await listEntries(pair.upper)) {
      const text = textOfName(name);
      names.add(text);
      await this.#entry({ ...pair, isFolderChanged: changed }, { dirFd: pair.upper, name }, { text, depth });
    }
    if (pair.lower === undefined || !this.#isOpaque(pair.upper)) return;
    for (const { name } of await listEntries(pair.lower)) {
      const text = textOfName(name);
      if (!names.has(text)) await this.#removed({ dirFd: pair.lower, name }, joined(pair.path, text), depth);
    }
  }

  async #entry(
    pair: FolderPair & Pick<Found, 'isFolderChanged'>,
    entry: InnerEntry,
    { text, depth }: { readonly text: string; readonly depth: number },
  ): Promise<void> {
    await this.#count();
    const path = joined(pair.path, text);
    const stat = statEntry(entry);
    if (stat === undefined) return;
    const lowerEntry = pair.lower === undefined ? undefined : { dirFd: pair.lower, name: entry.name };
    const lowerStat = lowerEntry && statEntry(lowerEntry);
    const below = lowerEntry && lowerStat && { entry: lowerEntry, stat: lowerStat };
    if (isWhiteout(stat)) {
      if (below !== undefined) await this.#removed(below.entry, path, depth);
      return;
    }
    const isPlain = typeof entry.name === 'string' && pair.file !== undefined;
    const found: Found = {
      entry,
      stat,
      path,
      file: isPlain ? `${pair.file}/${text}` : undefined,
      below,
      isFolderChanged: pair.isFolderChanged,
    };
    if (!this.#isAllowed(found)) return;
    if (stat.isDirectory()) await this.#folderEntry(found, depth);
    else await this.#leaf(found, depth);
  }

  /** Reports what it leaves out. */
  #isAllowed({ stat, path, entry, below }: Found): boolean {
    const reason = this.#protection(path, stat) ?? kindProblem(stat);
    if (reason !== undefined) return this.#leave(path, reason);
    if (stat.isFile() && stat.size === 0n && this.#hasAttribute(entry, WHITEOUT))
      return this.#leave(path, 'overlay attribute');
    const bits = Number(stat.mode) & SET_ID_BITS & ~Number(below?.stat.mode ?? 0n);
    // A folder takes the group bit from the one it is in.
    if (bits !== 0 && stat.isFile())
      this.#leave(path, 'set-user-id or set-group-id bit; the file itself is kept without it');
    return true;
  }

  #protection(path: string, stat: BigIntStats): string | undefined {
    for (const name of this.#layer.protectedNames) {
      if (path === name || path.startsWith(`${name}/`)) return 'protected name';
      if (name.startsWith(`${path}/`) && !stat.isDirectory()) return 'in the way of a protected name';
    }
    return undefined;
  }

  async #folderEntry({ entry, stat, path, file, below }: Found, depth: number): Promise<void> {
    const upper = openSubdirectory(entry);
    const isMerged = below?.stat.isDirectory() === true;
    const lower = isMerged ? openSubdirectory(below.entry) : undefined;
    try {
      // A folder that its owner may not read; the mode that counts has been read already.
      if ((Number(stat.mode) & 0o700) !== 0o700) setDirectoryMode(upper, 0o700);
      if (isMerged) this.#add(path, await stateOf(below.entry, below.stat), await stateOf(entry, stat));
      else await this.#replaced({ path, below, after: { kind: 'folder', mode: modeOf(stat) } }, undefined, depth);
      await this.folder({ upper, lower, path, file }, depth + 1);
    } finally {
      closeSync(upper);
      if (lower !== undefined) closeSync(lower);
    }
  }

  async #leaf(found: Found, depth: number): Promise<void> {
    const { entry, stat, path, below } = found;
    if (stat.isFile()) this.#measure(stat.size);
    if (below === undefined && found.isFolderChanged && this.#hasAttribute(entry, ORIGIN)) {
      // A file of the workspace that is not at this name there: renamed by the command, or removed by someone else.
      this.#conflicts.push(path);
      return;
    }
    if (stat.isFile() && (Number(stat.mode) & 0o400) === 0) makeReadable(entry, stat);
    const { state: after, source } = await contentOf(found);
    if (after === undefined) {
      this.#leave(path, 'larger than 16 MiB under a name that is no UTF-8');
      return;
    }
    await this.#replaced({ path, below, after }, source, depth);
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
    await this.#count();
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
    const isProtected = this.#layer.protectedNames.some(
      (name) => path === name || path.startsWith(`${name}/`) || name.startsWith(`${path}/`),
    );
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
    if (this.#leftOut.length < MAX_LEFT_OUT) this.#leftOut.push({ path, reason });
    return false;
  }

  async #count(): Promise<void> {
    this.#entries += 1;
    if (this.#entries > this.#limits.entries) throw tooMuch(`more than ${this.#limits.entries} entries`);
    if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
  }

  #measure(size: bigint): void {
    this.#bytes += Number(size);
    if (this.#bytes > this.#limits.bytes) throw tooMuch(`more than ${this.#limits.bytes} bytes`);
  }

  #isOpaque(folder: number): boolean {
    const value = Buffer.alloc(8);
    const length = this.#layer.native.readAttribute(Buffer.from(`/proc/self/fd/${folder}/.\0`), OPAQUE, value);
    return length === 1 && value[0] === 'y'.charCodeAt(0);
  }

  #hasAttribute({ dirFd, name }: InnerEntry, attribute: string): boolean {
    const path = Buffer.concat([Buffer.from(`/proc/self/fd/${dirFd}/`), Buffer.from(name), Buffer.of(0)]);
    return this.#layer.native.readAttribute(path, attribute, Buffer.alloc(256)) >= 0;
  }
}

function isWhiteout(stat: BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

function kindProblem(stat: BigIntStats): string | undefined {
  if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return undefined;
  if (stat.isFIFO()) return 'pipe';
  return stat.isSocket() ? 'socket' : 'device';
}

function modeOf(stat: BigIntStats): number {
  return Number(stat.mode) & PERMISSION_BITS;
}

/** Undefined for devices, pipes and sockets. */
async function stateOf(entry: InnerEntry, stat: BigIntStats): Promise<PathState | undefined> {
  if (stat.isSymbolicLink()) return { kind: 'link', target: textOfName(readLinkBytes(entry)) };
  if (stat.isDirectory()) return { kind: 'folder', mode: modeOf(stat) };
  if (!stat.isFile()) return undefined;
  const { sha256, size, mode } = await readContent(openEntry(entry, constants.O_RDONLY), { maxBytes: 0 });
  return { kind: 'file', digest: sha256, size, mode };
}

/** No state: a file that can neither be named by a path nor kept in memory. */
async function contentOf({ entry, stat, file }: Found): Promise<{ state?: PathState; source?: ContentSource }> {
  if (!stat.isFile()) {
    const state = await stateOf(entry, stat);
    return state === undefined ? {} : { state };
  }
  const isNamed = file !== undefined;
  if (!isNamed && stat.size > MAX_NAMELESS_BYTES) return {};
  const read = await readContent(openEntry(entry, constants.O_RDONLY), isNamed ? { maxBytes: 0 } : {});
  const state: PathState = { kind: 'file', digest: read.sha256, size: read.size, mode: modeOf(stat) };
  return { state, source: isNamed ? { file } : { bytes: read.bytes } };
}

/** Ours, in the upper folder: the mode that counts has been read already. */
function makeReadable({ dirFd, name }: InnerEntry, stat: BigIntStats): void {
  chmodSync(Buffer.concat([Buffer.from(`/proc/self/fd/${dirFd}/`), Buffer.from(name)]), modeOf(stat) | 0o400);
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
