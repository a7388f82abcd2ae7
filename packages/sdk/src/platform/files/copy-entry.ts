/**
 * Copying: the whole copy is built under a temporary name beside the target and gets its name in one step.
 *
 * Killed at any moment, the target is what it was or the whole copy; where the kernel cannot exchange two folders, a
 * folder that was to be replaced may be absent.
 */
import { closeSync, constants, fchmodSync, fstatSync } from 'node:fs';
import { isTemporaryName } from '../../contracts/path-text.ts';
import type { CopyOptions, FileSnapshot, TreeChange } from '../../contracts/workspace.ts';
import {
  type DirectoryEntry,
  type InnerEntry,
  type ListedEntry,
  makeDirectory,
  makeLink,
  openEntry,
  openSubdirectory,
  readLinkBytes,
  removeFile,
  setDirectoryMode,
  statEntry,
  touchDirectory,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import type { Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS } from '../descriptors/file-content.ts';
import { explained, intoItself, sameEntry, specialFile, tooDeep } from '../descriptors/file-errors.ts';
import { identityOf } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import type { GoverningFiles, TreeGuard } from '../protection/governing-files.ts';
import { copyContent } from './copy-content.ts';
import { type Transfer, type TransferJob, withTransfer } from './prepare-transfer.ts';
import { removeAside, removeTree } from './remove-tree.ts';
import { replaceFolder } from './replace-file.ts';
import { snapshotWithoutContent } from './snapshot-entry.ts';
import { MAX_DEPTH, openInnerDirectory, type Survey } from './survey-tree.ts';
import { createTemporaryFile, temporaryEntry } from './temporary-file.ts';

export interface Copied extends Survey {
  readonly after: FileSnapshot;
}

type CopySettings = Pick<CopyOptions, 'preserveMode' | 'signal'>;

/** Well below the age at which a sweep takes a folder for left behind. */
const SIGN_OF_LIFE_MS = 10_000;

export function copyEntry(job: TransferJob<CopyOptions>): Promise<TreeChange> {
  return withTransfer<TreeChange>(job, {
    purpose: 'copy',
    same: (targetPath) => {
      throw sameEntry(targetPath);
    },
    async perform(transfer) {
      const { entries, bytes, after } = await copyToTarget(transfer, job.options);
      const before = transfer.replaced?.snapshot ?? null;
      return { changes: [{ path: transfer.targetPath, before, after }], entries, bytes };
    },
  });
}

/** Replaces what `transfer` says is to be replaced, and otherwise fails with EEXIST when the name is taken. */
export function copyToTarget(transfer: Transfer, { preserveMode, signal }: CopySettings): Promise<Copied> {
  const { disk, guard, sourcePath: spelling } = transfer;
  const rules: CopyRules = { disk, guard, spelling, preserveMode, signal };
  const { stat } = transfer.source;
  if (stat.isDirectory()) return copyFolder(transfer, rules);
  return stat.isSymbolicLink() ? copyLink(transfer) : copyFile(transfer, rules);
}

async function copyFile(transfer: Transfer, rules: CopyRules): Promise<Copied> {
  const from = openEntry(transfer.source, constants.O_RDONLY);
  try {
    const mode = modeOfCopy(from, rules, transfer.sourcePath);
    const temporary = createTemporaryFile(transfer.target.dirFd, transfer.root, { mode });
    try {
      const { bytes, sha256 } = await copyContent(from, temporary.fd, rules.signal);
      await rules.disk.content(temporary.fd);
      temporary.publish(transfer.target, transfer.replaced === undefined ? 'noreplace' : 'replace');
      closeSync(temporary.fd);
      return { entries: 1, bytes, after: { sha256, size: bytes, mode } };
    } catch (thrown) {
      temporary.discard();
      throw thrown;
    }
  } finally {
    closeSync(from);
  }
}

async function copyLink(transfer: Transfer): Promise<Copied> {
  const { root, target, replaced } = transfer;
  const temporary = temporaryEntry(transfer.target.dirFd, transfer.root);
  makeLink(temporary, readLinkBytes(transfer.source));
  try {
    root.rename(temporary, target, replaced === undefined ? 'noreplace' : 'replace');
  } catch (thrown) {
    removeFile(temporary);
    throw thrown;
  }
  return { entries: 1, bytes: 0, after: snapshotWithoutContent(transfer.source.stat) };
}

async function copyFolder(transfer: Transfer, rules: CopyRules): Promise<Copied> {
  const temporary = temporaryEntry(transfer.target.dirFd, transfer.root);
  if (!makeDirectory(temporary, BUILDING_MODE)) throw new ErrnoError('EAGAIN');
  let copied: Survey;
  let aside: DirectoryEntry | undefined;
  try {
    copied = await fillFolder(transfer, temporary, rules);
    aside = await publishFolder(transfer, temporary);
  } catch (thrown) {
    await discardFolder(temporary);
    throw thrown;
  }
  const made = statEntry(transfer.target) ?? transfer.source.stat;
  // The copy is in place; what cannot be removed of the old folder is left to the sweep.
  if (aside !== undefined) await removeAside(aside, rules.signal);
  return { ...copied, after: snapshotWithoutContent(made, copied.bytes) };
}

async function fillFolder({ source }: Transfer, temporary: DirectoryEntry, rules: CopyRules): Promise<Survey> {
  const from = openSubdirectory(source);
  try {
    const to = openSubdirectory(temporary);
    const signs = setInterval(() => showLife(to), SIGN_OF_LIFE_MS);
    try {
      return await copyTree(from, to, rules);
    } finally {
      clearInterval(signs);
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
}

function showLife(dirFd: number): void {
  try {
    touchDirectory(dirFd);
  } catch {
    // The disk is failing, and the copy will report it: it cannot be caught here.
  }
}

async function publishFolder(
  { root, target, replaced }: Transfer,
  temporary: DirectoryEntry,
): Promise<DirectoryEntry | undefined> {
  try {
    if (replaced !== undefined)
      return replaceFolder({ root, from: temporary, to: target, replaced: identityOf(replaced.stat) });
  } catch (thrown) {
    // In the lower layer of an overlay no folder can be renamed: it goes first.
    if (errnoCode(thrown) !== 'EXDEV') throw thrown;
    await removeTree(target, new Pace(undefined));
  }
  root.rename(temporary, target, 'noreplace');
  return undefined;
}

async function discardFolder(temporary: DirectoryEntry): Promise<void> {
  try {
    await removeTree(temporary, new Pace(undefined));
  } catch {
    // The failure that led here is the one to report; a sweep takes the rest.
  }
}

interface CopyRules {
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
const BUILDING_MODE = 0o700;

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

/**
 * The content of one folder into another that is not visible yet.
 *
 * Links are copied as text and never followed. Each name is checked while it is copied, so what appears in the source
 * meanwhile is checked too; what vanishes meanwhile is not in the copy.
 *
 * Both are descriptors of folders; the second is empty and has its final mode when this is over.
 */
export async function copyTree(from: number, to: number, rules: CopyRules): Promise<Survey> {
  const ownIdentity = identityOf(fstatSync(to, { bigint: true }));
  const guard = rules.guard.lookAtTree('copy');
  const progress: Progress = { rules, guard, pace: new Pace(rules.signal), ownIdentity, entries: 1, bytes: 0 };
  await copyEntries({ from, to, path: rules.spelling, depth: 1 }, progress);
  return { entries: progress.entries, bytes: progress.bytes };
}

async function copyEntries(folders: Folders, progress: Progress): Promise<void> {
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
      await copyEntries({ from, to, path: folders.path, depth: folders.depth + 1 }, progress);
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
function modeOfCopy(from: number, rules: CopyRules, path: string): number {
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
