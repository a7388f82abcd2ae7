/**
 * Removes the locks of gits that died, and of no others.
 *
 * Every git of ours that may write has an empty file in the state folder while it runs. Its name says who started it,
 * where and when; the owner touches it every second. A lock is removed only if its owner is this user, it was made
 * during the run of a git of ours that is dead, no process has it open and no git works in that repository. Any other lock
 * stays, because it is not known who made it.
 */
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isToolError } from '@tool-runtime/protocol';
import { createDirectoryLock } from '../descriptors/directory-lock.ts';
import { loadNativeCalls } from '../descriptors/native-calls.ts';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { currentInstance, isAlive } from '../processes/process-identity.ts';
import { endLostSandboxes } from '../sandbox/lost-sandboxes.ts';
import { findGitFolders } from './git-folders.ts';
import { findGitLocks, type GitLock, holderOf } from './git-locks.ts';

export interface GitWrites {
  /** To be called before anything of ours may make locks in these folders. Clears away what dead runs left there. */
  begin(gitFolders: readonly string[]): Promise<GitWrite>;
  /** Removes the locks dead runs left in this folder; answers their paths. */
  clear(gitFolder: string): Promise<readonly string[]>;
}

export interface GitWrite {
  /** `isClean`: git ended by itself and removed its own locks. */
  end(isClean: boolean): Promise<void>;
}

/** A run that may have left locks: `name` is that of its file. */
interface DeadRun {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const FOLDER = 'git-writes';
const BEAT_MS = 1000;
/** How long after its owner was last seen a git may have made a lock. The owner may have been too busy to be seen. */
const LATE_MS = 10_000;
/** File systems stamp files with a clock that ticks this slowly. */
const TICK_MS = 20;
const FORGET_MS = 30 * 24 * 3_600_000;
const LOOK_MS = 50;
const LOOKS = 40;

export function createGitWrites(state: string): GitWrites {
  const folder = join(state, FOLDER);
  const { pid, birth } = currentInstance();
  const lock = createDirectoryLock(loadNativeCalls());
  let count = 0;

  function deadRuns(gitFolder: string): readonly DeadRun[] {
    const key = keyOf(gitFolder);
    return namesIn(folder).flatMap((name) => {
      const [ownerPid, ownerBirth = '', where, startMs, , endMs] = name.split('_');
      const isOwn = Number(ownerPid) === pid && ownerBirth === birth;
      const isOver = endMs !== undefined || !(isOwn || isAlive({ id: '', pid: Number(ownerPid), birth: ownerBirth }));
      if (!isOver) return [];
      const seenMs = lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (Date.now() - seenMs > FORGET_MS) forget(name);
      return where === key ? [{ name, fromMs: Number(startMs), toMs: Number(endMs ?? seenMs + LATE_MS) }] : [];
    });
  }

  /** One process at a time: another one could else remove the lock of the git that the first one starts next. */
  async function clear(gitFolder: string): Promise<readonly string[]> {
    if (deadRuns(gitFolder).length === 0) return [];
    const dirFd = openSync(folder, DIRECTORY_HANDLE);
    try {
      return await lock.run(dirFd, () => clearAlone(gitFolder));
    } finally {
      closeSync(dirFd);
    }
  }

  async function clearAlone(gitFolder: string): Promise<readonly string[]> {
    const dead = deadRuns(gitFolder);
    if (dead.length === 0) return [];
    endLostSandboxes(state);
    const { removed, isFree } = await removeLocks(gitFolder, dead);
    // A process is still working below it: try again next time.
    if (isFree) for (const { name } of dead) forget(name);
    return removed;
  }

  function forget(name: string): void {
    rmSync(join(folder, name), { force: true });
  }

  return {
    clear,
    async begin(gitFolders) {
      inState(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
      for (const gitFolder of gitFolders) await clear(gitFolder);
      const startMs = Date.now();
      count += 1;
      const names = gitFolders.map((gitFolder) => `${pid}_${birth}_${keyOf(gitFolder)}_${startMs}_${count}`);
      for (const name of names) inState(() => closeSync(openSync(join(folder, name), 'wx', 0o600)));
      const beat = setInterval(() => {
        for (const name of names) touch(folder, name);
      }, BEAT_MS).unref();
      return {
        async end(isClean) {
          clearInterval(beat);
          const endMs = Date.now();
          for (const [at, name] of names.entries()) {
            const window = { fromMs: startMs, toMs: endMs };
            const { isFree } = isClean ? CLEAN : await removeLocks(gitFolders[at] ?? '', [window]);
            if (isFree) forget(name);
            else renameSync(join(folder, name), join(folder, `${name}_${endMs}`));
          }
        },
      };
    },
  };
}

const CLEAN = { isFree: true };

/** Locks left in the repository of a workspace that no live process holds, once those of dead runs are removed. */
export async function clearWorkspaceLocks(state: string, workspace: string): Promise<readonly GitLock[]> {
  const writes = createGitWrites(state);
  const left: GitLock[] = [];
  for (const gitFolder of gitFoldersOf(workspace)) {
    await writes.clear(gitFolder);
    left.push(...findGitLocks(gitFolder).filter((lock) => holderOf(lock, gitFolder) === undefined));
  }
  return left;
}

function gitFoldersOf(workspace: string): readonly string[] {
  try {
    const { gitDir, commonDir } = findGitFolders(workspace);
    return [...new Set([gitDir, commonDir])];
  } catch (thrown) {
    // No repository, or one that git tools refuse to use.
    if (isToolError(thrown)) return [];
    throw thrown;
  }
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Waits a little for a git that is being killed. `isFree`: no lock that could be a dead git's is left. */
async function removeLocks(
  gitFolder: string,
  windows: readonly Window[],
): Promise<{ readonly removed: readonly string[]; readonly isFree: boolean }> {
  const removed: string[] = [];
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await delay(LOOK_MS);
    const suspects = findGitLocks(gitFolder).filter((lock) => lock.isOwn && windows.some((one) => isIn(lock, one)));
    for (const lock of suspects.filter((one) => holderOf(one, gitFolder) === undefined)) {
      if (isStillThere(lock)) rmSync(lock.path, { force: true });
      removed.push(lock.path);
    }
    if (suspects.every(({ path }) => removed.includes(path))) return { removed, isFree: true };
  }
  return { removed, isFree: false };
}

function isIn({ createdMs }: GitLock, { fromMs, toMs }: Window): boolean {
  return createdMs >= fromMs - TICK_MS && createdMs <= toMs;
}

function isStillThere({ path, identity }: GitLock): boolean {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat !== undefined && `${stat.dev}:${stat.ino}` === identity;
}

function keyOf(gitFolder: string): string {
  const { dev, ino } = statSync(gitFolder, { bigint: true });
  return `${dev}-${ino}`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

function touch(folder: string, name: string): void {
  const now = Date.now() / 1000;
  try {
    utimesSync(join(folder, name), now, now);
  } catch (thrown) {
    // A full disk, or a state folder that was removed: the run is then taken to have ended early.
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}
