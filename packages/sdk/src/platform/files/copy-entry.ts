/**
 * Copying: the whole copy is built under a temporary name beside the target and gets its name in one step.
 *
 * Killed at any moment, the target is what it was or the whole copy; where the kernel cannot exchange two folders, a
 * folder that was to be replaced may be absent.
 */
import { closeSync, constants } from 'node:fs';
import type { CopyOptions, FileSnapshot, TreeChange } from '../../contracts/workspace.ts';
import {
  type DirectoryEntry,
  makeDirectory,
  makeLink,
  openEntry,
  openSubdirectory,
  readLinkBytes,
  removeFile,
  statEntry,
  touchDirectory,
} from '../descriptors/directory-entry.ts';
import { identityOf } from '../descriptors/root.ts';
import { sameEntry } from '../descriptors/tree-errors.ts';
import { ErrnoError } from '../errno-error.ts';
import { Pace } from '../pace.ts';
import { copyContent } from './copy-content.ts';
import { BUILDING_MODE, type CopyRules, copyTree, modeOfCopy } from './copy-tree.ts';
import { type Transfer, type TransferJob, withTransfer } from './prepare-transfer.ts';
import { removeAside, removeTree } from './remove-tree.ts';
import { replaceFolder } from './replace-folder.ts';
import { snapshotWithoutContent } from './snapshot-entry.ts';
import type { Survey } from './survey-tree.ts';
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
    aside = publishFolder(transfer, temporary);
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

function publishFolder({ root, target, replaced }: Transfer, temporary: DirectoryEntry): DirectoryEntry | undefined {
  if (replaced !== undefined) {
    return replaceFolder({ root, from: temporary, to: target, replaced: identityOf(replaced.stat) });
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
