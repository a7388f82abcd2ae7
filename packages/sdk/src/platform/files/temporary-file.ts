/**
 * New content before it has its name. Where the kernel can, the file has no name at all until it is whole, so that a kill
 * leaves nothing; else it lies beside the target under a name that only we could have made.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fchmodSync, fchownSync, readlinkSync } from 'node:fs';
import { TEMPORARY_PREFIX } from '../../contracts/path-text.ts';
import { type DirectoryEntry, openEntry, removeFile, reopenDirectory } from '../descriptors/directory-entry.ts';
import type { RenameMode } from '../descriptors/rename-entry.ts';
import type { Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { O_TMPFILE } from '../open-flags.ts';
import { OWN_TAG } from '../processes/process-identity.ts';

export interface TemporaryFile {
  readonly fd: number;
  /**
   * Gives it its name, in the folder it was made in. EEXIST when the name is taken and the mode is `noreplace`. `isTaken`: the name
   * was taken a moment ago, so replacing it is tried first.
   */
  publish(target: DirectoryEntry, mode: Exclude<RenameMode, 'exchange'>, isTaken?: boolean): void;
  /** Closes and removes it; for failures, instead of closing. */
  discard(): void;
}

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
}

/** What a temporary file needs of the root it is made below. */
export type TemporaryRoot = Pick<Root, 'rename' | 'linkFile' | 'noteFolder'>;

/** A name in that folder that nothing has, and that a sweep would clear away if we died. */
export function temporaryEntry(dirFd: number, { noteFolder }: Pick<Root, 'noteFolder'>): DirectoryEntry {
  noteFolder?.(readlinkSync(`/proc/self/fd/${dirFd}`));
  return { dirFd, name: temporaryName() };
}

export function temporaryName(): string {
  return `${TEMPORARY_PREFIX}${OWN_TAG === undefined ? '' : `${OWN_TAG}-`}${randomHex12()}`;
}

/** The mode is set again after creation because the process's umask narrows the first one. */
export function createTemporaryFile(
  dirFd: number,
  root: TemporaryRoot,
  { mode, owner }: { readonly mode: number; readonly owner?: Ownership | undefined },
): TemporaryFile {
  const file = openNameless(dirFd, root, mode) ?? openNamed(dirFd, root, mode);
  try {
    if (owner !== undefined) keepOwner(file.fd, owner);
    fchmodSync(file.fd, mode);
    return file;
  } catch (thrown) {
    file.discard();
    throw thrown;
  }
}

/** File systems without such files say so in one of these ways; old kernels take the flag for O_DIRECTORY. */
const NO_NAMELESS = new Set<string | undefined>(['EOPNOTSUPP', 'ENOTSUP', 'EINVAL', 'EISDIR', 'ENOENT']);

function openNameless(dirFd: number, root: TemporaryRoot, mode: number): TemporaryFile | undefined {
  const { linkFile } = root;
  if (linkFile === undefined) return undefined;
  let fd: number;
  try {
    fd = reopenDirectory(dirFd, O_TMPFILE | constants.O_WRONLY, mode);
  } catch (thrown) {
    if (NO_NAMELESS.has(errnoCode(thrown))) return undefined;
    throw thrown;
  }
  return {
    fd,
    publish(target, how, isTaken = false) {
      if (how === 'noreplace' || !isTaken) {
        try {
          linkFile(fd, target);
          return;
        } catch (thrown) {
          if (how === 'noreplace' || errnoCode(thrown) !== 'EEXIST') throw thrown;
        }
      }
      replaceByLink(target, root, (entry) => linkFile(fd, entry));
    },
    discard: () => closeSync(fd),
  };
}

/** A link cannot replace a name, so the file gets a second one that is renamed at once. */
function replaceByLink(target: DirectoryEntry, root: TemporaryRoot, link: (entry: DirectoryEntry) => void): void {
  const entry = temporaryEntry(target.dirFd, root);
  link(entry);
  try {
    root.rename(entry, target, 'replace');
  } catch (thrown) {
    removeQuietly(entry);
    throw thrown;
  }
}

function openNamed(dirFd: number, root: TemporaryRoot, mode: number): TemporaryFile {
  const entry = temporaryEntry(dirFd, root);
  const fd = openEntry(entry, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  return {
    fd,
    publish: (target, how) => root.rename(entry, target, how),
    discard() {
      closeSync(fd);
      removeQuietly(entry);
    },
  };
}

/** The first twelve digits of a version-4 UUID are all random, and Node keeps entropy for them at hand. */
function randomHex12(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 8)}${uuid.slice(9, 13)}`;
}

export function keepOwner(fd: number, owner: Ownership): void {
  if (owner.uid === process.geteuid?.() && owner.gid === process.getegid?.()) return;
  try {
    fchownSync(fd, owner.uid, owner.gid);
  } catch {
    // Only a privileged process may give files away; for the others the new file is simply theirs.
  }
}

function removeQuietly(entry: DirectoryEntry): void {
  try {
    removeFile(entry);
  } catch {
    // Already renamed or removed, or the disk is failing: the next sweep takes what is left.
  }
}
