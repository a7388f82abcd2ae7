/**
 * Whether a sandbox that was set up, and waits, shows the objects that were checked.
 *
 * Bubblewrap takes paths, and looks each one up again when it mounts it: in between, a process that may write there can
 * put a link in its place, on the way to the source or to the destination. So the result is looked at from outside,
 * through the first process of the sandbox. Every destination must be the root of a mount, reached without a link, of
 * the object that was checked, and read-only where it should be. What a mount hides must still lie below it.
 */
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import { openEntry, openSubdirectory, statEntry } from '../descriptors/directory-entry.ts';
import { namesOf } from '../descriptors/held-path.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE, O_PATH } from '../open-flags.ts';
import { HOST_ROOT, type Mount, PAUSED } from './sandbox-mounts.ts';

/** Every sandbox has this folder in its root; while bubblewrap still works, the process has another root without it. */
export const SETTLED = 'run';

/** Where bubblewrap puts the new root together, below its own. */
const NEW_ROOT = 'newroot';

const MOUNT_CHANGED = 'mount_changed';

/** False while mounts are still being made. Throws E_POLICY when the sandbox shows something else. */
export function verifyMounts(init: number, mounts: readonly Mount[]): boolean {
  const root = openSettledRoot(init);
  if (root === undefined) return false;
  if (statEntry({ dirFd: root, name: HOST_ROOT }) !== undefined) {
    closeSync(root);
    throw mountChanged(`/${HOST_ROOT}`);
  }
  return verifyBelow(root, init, mounts);
}

/** Same for all but the late mounts, while bubblewrap waits before it makes those. */
export function verifyEarlyMounts(init: number, mounts: readonly Mount[]): boolean {
  const root = openAt(join('/proc', String(init), 'root', NEW_ROOT));
  if (root === undefined) return false;
  if (statSync(`/proc/self/fd/${root}/${PAUSED}`, { throwIfNoEntry: false }) === undefined) {
    closeSync(root);
    return false;
  }
  return verifyBelow(
    root,
    init,
    mounts.filter(({ late }) => !late),
  );
}

function verifyBelow(root: number, init: number, mounts: readonly Mount[]): boolean {
  const opened = new Map<string, number>([['', root]]);
  try {
    const table = readMountTable(init);
    for (const mount of mounts) if (!isAsChecked(mount, opened, table)) throw mountChanged(mount.at);
    return true;
  } finally {
    for (const fd of opened.values()) closeSync(fd);
  }
}

function openSettledRoot(init: number): number | undefined {
  const fd = openAt(`/proc/${init}/root`);
  if (fd === undefined) return undefined;
  const isOurs = identityOf(fstatSync(fd, { bigint: true })) === identityOf(statSync('/', { bigint: true }));
  if (!isOurs && statEntry({ dirFd: fd, name: SETTLED }) !== undefined) return fd;
  closeSync(fd);
  return undefined;
}

function openAt(path: string): number | undefined {
  try {
    return openSync(path, DIRECTORY_HANDLE);
  } catch (thrown) {
    // It ended, has not come so far, or has not given up its privileges yet.
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

interface MountRow {
  readonly isReadOnly: boolean;
  readonly fileSystem: string;
}

type MountTable = ReadonlyMap<string, MountRow>;

/** By number: id, parent, device, root, place, options, optional fields, a dash, type of file system. */
function readMountTable(init: number): MountTable {
  const rows = readFileSync(`/proc/${init}/mountinfo`, 'latin1').matchAll(/^(\d+) \d+ \S+ \S+ \S+ (\S+) .*?- (\S+) /gm);
  return new Map(
    [...rows].map(([, id = '', options = '', fileSystem = '']) => [
      id,
      { isReadOnly: options.split(',').includes('ro'), fileSystem },
    ]),
  );
}

function isAsChecked(
  { at, from, writable, identity, covered }: Mount,
  opened: Map<string, number>,
  table: MountTable,
): boolean {
  const names = namesOf(at);
  const name = names.at(-1) ?? '';
  let fd: number | undefined;
  try {
    const parent = openFolder(names.slice(0, -1), opened);
    fd = openEntry({ dirFd: parent, name }, O_PATH);
    const id = mountOf(fd);
    const row = table.get(id);
    // Where nothing is mounted, the mount is the one of the folder above.
    if (row === undefined || id === mountOf(parent)) return false;
    if (covered !== undefined && readlinkSync(`/proc/self/fd/${covered.fd}`) !== covered.path) return false;
    if (from === undefined) return row.fileSystem === 'tmpfs';
    return identityOf(fstatSync(fd, { bigint: true })) === identity && (writable || row.isReadOnly);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Kept open for the next mount. Throws where a name is a link. */
function openFolder(names: readonly string[], opened: Map<string, number>): number {
  const path = names.join('/');
  const known = opened.get(path);
  if (known !== undefined) return known;
  const dirFd = openFolder(names.slice(0, -1), opened);
  const fd = openSubdirectory({ dirFd, name: names.at(-1) ?? '' });
  opened.set(path, fd);
  return fd;
}

function mountOf(fd: number): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '';
}

export function isMountChanged(thrown: unknown): boolean {
  return isToolError(thrown) && thrown.details?.['reason'] === MOUNT_CHANGED;
}

export function mountChanged(path: string): ToolError {
  return failure('isolation_failure', 'retryable', `Path changed while the sandbox was set up: ${path}`, {
    details: {
      reason: MOUNT_CHANGED,
      path,
      next: 'try again; if it happens again, find the process that replaces this path',
    },
  });
}
