/**
 * What a transaction changed on its copy of the workspace, as changes of the workspace.
 *
 * A name of the copy that is still what was copied was not changed, whatever the workspace holds by now. For one that was,
 * the change goes from what the workspace holds now, and a name that someone else changed since it was copied is a conflict.
 */
import { type BigIntStats, closeSync } from 'node:fs';
import { ABSENT, type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import { nameOfText, textOfName } from '../../changes/path-name.ts';
import type { LeftOutEntry, StagedEffects } from '../../contracts/commands.ts';
import { isTemporaryName } from '../../contracts/path-text.ts';
import { stampOf } from '../commit/held-folders.ts';
import { type InnerEntry, openSubdirectory, statEntry } from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import { type CopyManifest, ownOfFolder } from './copy-workspace.ts';
import { contentOf, kindProblem, modeOf, stateOf } from './upper-entry.ts';

export interface ComparedCopy {
  readonly manifest: CopyManifest;
  /** Descriptors of the copy and of the workspace. */
  readonly copy: number;
  readonly workspace: number;
  /** The copy's absolute path. */
  readonly path: string;
  /** Paths below the workspace that are never taken over. */
  readonly protectedNames: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export async function compareCopy(compared: ComparedCopy): Promise<StagedEffects> {
  const comparison = new Comparison(compared);
  await comparison.folder({ copy: compared.copy, below: compared.workspace, path: '', file: compared.path });
  return comparison.result();
}

interface FolderPair {
  readonly copy: number;
  /** The folder of the workspace; undefined when it has none there. */
  readonly below: number | undefined;
  readonly path: string;
  /** Absolute; undefined below a name that is no text. */
  readonly file: string | undefined;
}

interface Below {
  readonly entry: InnerEntry;
  readonly stat: BigIntStats;
}

interface Changed {
  readonly entry: InnerEntry;
  readonly stat: BigIntStats;
  readonly path: string;
  readonly file: string | undefined;
  readonly below: Below | undefined;
}

class Comparison {
  readonly #compared: ComparedCopy;
  readonly #pace: Pace;
  readonly #changes: StagedChange[] = [];
  readonly #leftOut: LeftOutEntry[] = [];
  readonly #conflicts: string[] = [];

  constructor(compared: ComparedCopy) {
    this.#compared = compared;
    this.#pace = new Pace(compared.signal);
  }

  result(): StagedEffects {
    const changes = this.#changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    return { changes, leftOut: this.#leftOut, conflicts: this.#conflicts };
  }

  async folder(pair: FolderPair): Promise<void> {
    const there = new Set<string>();
    for (const { dirFd, name } of await listEntries(pair.copy)) {
      if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
      if (isTemporaryName(name)) continue;
      const text = textOfName(name);
      there.add(text);
      const entry = { dirFd, name };
      const stat = statEntry(entry);
      const file = typeof name === 'string' && pair.file !== undefined ? `${pair.file}/${name}` : undefined;
      if (stat !== undefined)
        await this.#entry({ entry, stat, path: joined(pair.path, text), file, below: this.#below(pair, name) });
    }
    for (const text of this.#compared.manifest.names.get(pair.path) ?? []) {
      if (there.has(text)) continue;
      const below = this.#below(pair, nameOfText(text));
      if (below !== undefined) await this.#removed(below, joined(pair.path, text));
    }
  }

  #below({ below: dirFd }: FolderPair, name: string | Buffer): Below | undefined {
    if (dirFd === undefined) return undefined;
    const entry = { dirFd, name };
    const stat = statEntry(entry);
    return stat && { entry, stat };
  }

  async #entry(changed: Changed): Promise<void> {
    const { stat, path } = changed;
    const copied = this.#compared.manifest.entries.get(path);
    const isFolder = stat.isDirectory();
    const isUntouched = copied?.own === (isFolder ? ownOfFolder(stat) : stampOf(stat));
    if (!isUntouched && this.#isAllowed(path, stat)) await this.#changed(changed);
    if (isFolder) await this.#inner(changed);
  }

  async #inner({ entry, path, file, below }: Changed): Promise<void> {
    const copy = openSubdirectory(entry);
    const lower = below?.stat.isDirectory() ? openSubdirectory(below.entry) : undefined;
    try {
      await this.folder({ copy, below: lower, path, file });
    } finally {
      closeSync(copy);
      if (lower !== undefined) closeSync(lower);
    }
  }

  #isAllowed(path: string, stat: BigIntStats): boolean {
    const reason = this.#protection(path) ?? kindProblem(stat);
    if (reason !== undefined) this.#leftOut.push({ path, reason });
    return reason === undefined;
  }

  #protection(path: string): string | undefined {
    const isProtected = this.#compared.protectedNames.some((name) => path === name || path.startsWith(`${name}/`));
    return isProtected ? 'protected name' : undefined;
  }

  async #changed({ entry, stat, path, file, below }: Changed): Promise<void> {
    const isFolder = stat.isDirectory();
    const content = isFolder ? undefined : await contentOf({ entry, upper: { stat, fd: undefined }, file }, false);
    const after: PathState | undefined = isFolder ? { kind: 'folder', mode: modeOf(stat) } : content?.state;
    if (after === undefined) {
      this.#leftOut.push({ path, reason: 'larger than 16 MiB under a name that is no UTF-8' });
      return;
    }
    const hasFolder = below?.stat.isDirectory() === true;
    if (hasFolder && !isFolder) await this.#removedBelow(below, path);
    const before = below === undefined ? ABSENT : await stateOf(below.entry, below.stat);
    this.#note(path, below?.stat);
    if (before === undefined)
      this.#leftOut.push({ path, reason: 'the workspace has a device, a pipe or a socket there' });
    else if (!sameState(before, after))
      this.#changes.push({ path, before, after, ...(content?.source === undefined ? {} : { source: content.source }) });
  }

  async #removed({ entry, stat }: Below, path: string): Promise<void> {
    if (this.#pace.isDue(ENTRY_UNITS)) await this.#pace.pause();
    const isInTheWay = this.#compared.protectedNames.some((name) => name.startsWith(`${path}/`));
    const before = isInTheWay || this.#protection(path) !== undefined ? undefined : await stateOf(entry, stat);
    if (before === undefined) {
      this.#leftOut.push({ path, reason: 'protected name, device, pipe or socket' });
      return;
    }
    this.#note(path, stat);
    if (stat.isDirectory()) await this.#removedBelow({ entry, stat }, path);
    this.#changes.push({ path, before, after: ABSENT });
  }

  async #removedBelow({ entry }: Below, path: string): Promise<void> {
    const dirFd = openSubdirectory(entry);
    try {
      for (const { name } of await listEntries(dirFd)) {
        const inner = { dirFd, name };
        const stat = statEntry(inner);
        if (stat !== undefined) await this.#removed({ entry: inner, stat }, joined(path, textOfName(name)));
      }
    } finally {
      closeSync(dirFd);
    }
  }

  /** A folder is changed by every name in it, so that tells nothing. */
  #note(path: string, now: BigIntStats | undefined): void {
    if (now?.isDirectory()) return;
    const copied = this.#compared.manifest.entries.get(path)?.source;
    if (copied !== (now && stampOf(now))) this.#conflicts.push(path);
  }
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
