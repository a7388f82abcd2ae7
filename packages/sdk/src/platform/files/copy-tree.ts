/**
 * The content of one folder into another that is not visible yet.
 *
 * Links are copied as text and never followed. Each name is checked while it is copied, so what appears in the source
 * meanwhile is checked too; what vanishes meanwhile is not in the copy.
 */

import { closeSync, constants, fchmodSync, fstatSync } from 'node:fs';
import { isTemporaryName } from '../../contracts/path-text.ts';
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
import type { Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS } from '../descriptors/file-content.ts';
import { explained } from '../descriptors/file-errors.ts';
import { listEntries } from '../descriptors/list-directory.ts';
import { identityOf } from '../descriptors/root.ts';
import { intoItself, specialFile, tooDeep } from '../descriptors/tree-errors.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import type { GoverningFiles, TreeGuard } from '../protection/governing-files.ts';
import { copyContent } from './copy-content.ts';
import { MAX_DEPTH, openInnerDirectory, type Survey } from './survey-tree.ts';

export interface CopyRules {
  readonly disk: Disk;
  readonly guard: GoverningFiles;
  /** How the caller spells the source. */
  readonly spelling: string;
  readonly preserveMode: boolean;
  readonly signal: AbortSignal | undefined;
}

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;
/** While it is being filled, so that other users do not see half of it. */
export const BUILDING_MODE = 0o700;

interface Progress {
  readonly rules: CopyRules;
  readonly guard: TreeGuard;
  readonly pace: Pace;
  /** The folder being filled: meeting it in the source would never end. */
  readonly ownIdentity: string;
  entries: number;
  bytes: number;
}

interface Folders {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  readonly depth: number;
}

/** Both are descriptors of folders; the second is empty and has its final mode when this is over. */
export async function copyTree(from: number, to: number, rules: CopyRules): Promise<Survey> {
  const ownIdentity = identityOf(fstatSync(to, { bigint: true }));
  const guard = rules.guard.lookAtTree('copy');
  const progress: Progress = { rules, guard, pace: new Pace(rules.signal), ownIdentity, entries: 1, bytes: 0 };
  await copyFolder({ from, to, path: rules.spelling, depth: 1 }, progress);
  return { entries: progress.entries, bytes: progress.bytes };
}

async function copyFolder(folders: Folders, progress: Progress): Promise<void> {
  if (folders.depth > MAX_DEPTH) throw tooDeep(folders.path);
  const source = fstatSync(folders.from, { bigint: true });
  if (identityOf(source) === progress.ownIdentity) throw intoItself(folders.path);
  for (const entry of await listEntries(folders.from)) {
    if (progress.pace.isDue(ENTRY_UNITS)) await progress.pace.pause();
    if (isTemporaryName(entry.name)) continue;
    const path = `${folders.path}/${entry.name}`;
    const stat = statEntry(entry);
    if (stat === undefined) continue;
    progress.guard.checkInner({ folder: identityOf(source), name: String(entry.name), stat }, path);
    const isCopied = await explained(path, () => copyInner(entry, { ...folders, path }, progress));
    if (isCopied) progress.entries += 1;
  }
  // Last, because a folder without write permission could not be filled.
  const kept = Number(source.mode) & PERMISSION_BITS;
  const mode = progress.rules.preserveMode ? kept : NEW_FOLDER_MODE;
  await progress.rules.disk.settle([folders.to], () => setDirectoryMode(folders.to, mode));
}

/** False when it vanished. */
function copyInner(entry: ListedEntry, folders: Folders, progress: Progress): boolean | Promise<boolean> {
  const copy: InnerEntry = { dirFd: folders.to, name: entry.name };
  if (entry.type === 'directory') return copyInnerFolder(entry, copy, folders, progress);
  if (entry.type === 'file') return copyInnerFile(entry, copy, folders.path, progress);
  if (entry.type === 'other') throw specialFile(folders.path);
  const text = unlessVanished(() => readLinkBytes(entry));
  if (text !== undefined) makeLink(copy, text);
  return text !== undefined;
}

async function copyInnerFolder(
  entry: InnerEntry,
  copy: InnerEntry,
  folders: Folders,
  progress: Progress,
): Promise<boolean> {
  const from = openInnerDirectory(entry);
  if (from === undefined) return false;
  try {
    if (!makeDirectory(copy, BUILDING_MODE)) throw new ErrnoError('EAGAIN');
    const to = openSubdirectory(copy);
    try {
      await copyFolder({ from, to, path: folders.path, depth: folders.depth + 1 }, progress);
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
  return true;
}

async function copyInnerFile(entry: InnerEntry, copy: InnerEntry, path: string, progress: Progress): Promise<boolean> {
  const from = unlessVanished(() => openEntry(entry, constants.O_RDONLY));
  if (from === undefined) return false;
  try {
    const mode = modeOfCopy(from, progress.rules, path);
    const to = openEntry(copy, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      fchmodSync(to, mode);
      const { bytes } = await copyContent(from, to, progress.rules.signal);
      await progress.rules.disk.content(to);
      progress.bytes += bytes;
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
  return true;
}

/** Throws for what turned out to be no regular file once it was open. */
export function modeOfCopy(from: number, rules: CopyRules, path: string): number {
  const stat = fstatSync(from);
  if (!stat.isFile()) throw specialFile(path);
  return rules.preserveMode ? stat.mode & PERMISSION_BITS : NEW_FILE_MODE;
}

function unlessVanished<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT') return undefined;
    // It was a file or a link when it was listed.
    throw code === 'ELOOP' || code === 'EINVAL' ? new ErrnoError('EAGAIN') : thrown;
  }
}
