/**
 * Finds lock files in git folders, and whether a live process may hold one.
 *
 * Git closes a lock file before it renames it, and holds `index.lock` closed while an editor runs. So a lock counts as
 * held when a process has it open, and also while any git works in that repository.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { gitPlaces } from './git-folders.ts';

export interface GitLock {
  /** Absolute path. */
  readonly path: string;
  readonly identity: string;
  readonly createdMs: number;
  /** Made by this user. */
  readonly isOwn: boolean;
}

export interface LockHolder {
  readonly pid: number;
  readonly name: string;
}

/** Where git makes locks, and how deep below it. Work trees of the same repository have folders of their own. */
const PLACES: readonly (readonly [string, number])[] = [
  ['', 0],
  ['refs', 32],
  ['info', 0],
  ['objects', 0],
  ['objects/info', 2],
  ['objects/pack', 0],
];

export function findGitLocks(gitFolder: string): readonly GitLock[] {
  return PLACES.flatMap(([place, depth]) => locksIn(join(gitFolder, place), depth));
}

function locksIn(folder: string, depth: number): readonly GitLock[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? locksIn(path, depth - 1) : [];
    return entry.isFile() && entry.name.endsWith('.lock') ? lockAt(path) : [];
  });
}

function lockAt(path: string): readonly GitLock[] {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return [];
  // File systems without a time of birth say zero; a lock is written once, right after it is made.
  const createdMs = Number(stat.birthtimeMs > 0n ? stat.birthtimeMs : stat.mtimeMs);
  return [{ path, identity: identityOf(stat), createdMs, isOwn: Number(stat.uid) === process.geteuid?.() }];
}

/** A live process that has the lock open, or a git that works in that folder. */
export function holderOf(lock: GitLock, gitFolder: string): LockHolder | undefined {
  for (const entry of attempt(() => readdirSync('/proc'), [])) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const name = attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd(), '');
    if (name === '' || isOver(pid)) continue;
    if (hasOpen(pid, lock.identity) || (name.startsWith('git') && worksIn(pid, gitFolder))) return { pid, name };
  }
  return undefined;
}

/** Ended, and only waits to be collected. */
function isOver(pid: number): boolean {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  return text === '' || /^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2));
}

function hasOpen(pid: number, identity: string): boolean {
  return attempt(() => readdirSync(`/proc/${pid}/fd`), []).some((fd) =>
    attempt(() => identityOf(statSync(`/proc/${pid}/fd/${fd}`, { bigint: true })) === identity, false),
  );
}

function worksIn(pid: number, gitFolder: string): boolean {
  const told = ['cmdline', 'environ'].map((file) => attempt(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'), ''));
  if (told.some((text) => text.includes(gitFolder))) return true;
  const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`), '');
  for (let folder = cwd; folder.startsWith('/'); folder = dirname(folder)) {
    if (folder === gitFolder || gitPlaces(folder).some(({ path }) => path === gitFolder)) return true;
    if (folder === dirname(folder)) break;
  }
  return false;
}

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

/** Processes and locks come and go while they are looked at, and some may not be looked at. */
function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return otherwise;
  }
}
