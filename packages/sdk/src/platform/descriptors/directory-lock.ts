/**
 * One writer at a time in a directory, across processes: "is it still what I read?" and the rename after it must not be
 * parted by another host on the same workspace.
 *
 * Advisory and only for writes with an expectation; a write without one takes no lock. The kernel drops
 * the lock of a process that dies, so there are no stale ones. Hosts exclude each other only when all of them have
 * koffi or none has: the two kinds of lock do not see each other.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync } from 'node:fs';
import { constants as osConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { sha256Hex } from '../digest.ts';
import { errnoCode, errnoError } from '../errno-error.ts';
import { reopenDirectory } from './directory-entry.ts';
import type { NativeCalls } from './native-calls.ts';
import { isPrivate } from './state-safety.ts';

export interface DirectoryLock {
  /** Runs `action` alone. Without waiting, and without a promise, when the lock is free. E_TIMEOUT else. */
  run<T>(dirFd: number, action: () => MaybePromise<T>): MaybePromise<T>;
}

const LOCK_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 20;

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const { EINTR, EWOULDBLOCK } = osConstants.errno;
/** A directory that may not be read, or a file system without such locks (some network ones). */
const NO_FLOCK: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EBADF',
  'EINVAL',
  'ENOLCK',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
]);

export function createDirectoryLock(native: NativeCalls | undefined, { waitMs = LOCK_WAIT_MS } = {}): DirectoryLock {
  return {
    run(dirFd, action) {
      const attempt = open(native, dirFd);
      let isHeld = false;
      try {
        isHeld = attempt.tryLock();
      } catch (thrown) {
        attempt.release();
        throw thrown;
      }
      return isHeld ? releasing(attempt, action) : waitAndRun(attempt, action, waitMs);
    },
  };
}

function open(native: NativeCalls | undefined, dirFd: number): LockAttempt {
  const flock = native === undefined ? undefined : openFlock(native, dirFd);
  if (flock !== undefined) return flock;
  const { dev, ino } = fstatSync(dirFd, { bigint: true });
  return openLockFile(`${dev}:${ino}`);
}

/** Undefined where the directory cannot be locked that way, which only the first try tells. */
function openFlock(native: NativeCalls, dirFd: number): LockAttempt | undefined {
  let fd: number;
  try {
    fd = reopenDirectory(dirFd, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (thrown) {
    if (NO_FLOCK.has(errnoCode(thrown))) return undefined;
    throw thrown;
  }
  let first: number | undefined = native.flock(fd, LOCK_EX | LOCK_NB);
  if (first < 0 && NO_FLOCK.has(errnoError(-first).code)) {
    closeSync(fd);
    return undefined;
  }
  return {
    tryLock() {
      const result = first ?? native.flock(fd, LOCK_EX | LOCK_NB);
      first = undefined;
      if (result === -EWOULDBLOCK || result === -EINTR) return false;
      if (result < 0) throw errnoError(-result);
      return true;
    },
    release() {
      // Closing alone would keep the lock while a child that was being forked still has the descriptor.
      native.flock(fd, LOCK_UN);
      closeSync(fd);
    },
  };
}

function releasing<T>(attempt: LockAttempt, action: () => MaybePromise<T>): MaybePromise<T> {
  let result: MaybePromise<T> | undefined;
  try {
    result = action();
    return result instanceof Promise ? result.finally(attempt.release) : result;
  } finally {
    if (!(result instanceof Promise)) attempt.release();
  }
}

async function waitAndRun<T>(attempt: LockAttempt, action: () => MaybePromise<T>, waitMs: number): Promise<T> {
  try {
    const deadline = performance.now() + waitMs;
    // Pauses of random length, so that two who wait do not always come together.
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      await delay(pause * (0.5 + Math.random()));
      if (attempt.tryLock()) return await action();
      if (performance.now() >= deadline) throw stayedLocked(waitMs);
    }
  } finally {
    attempt.release();
  }
}

function stayedLocked(waitMs: number): ToolError {
  return new ToolError('E_TIMEOUT', `Folder stayed locked by another process for ${waitMs} ms`, {
    details: { reason: 'locked', timeout_ms: waitMs, next: 'Try again; another host is writing in the same folder' },
  });
}

/** A lock that may be tried again and again. */
interface LockAttempt {
  /** False while someone else has it. */
  tryLock(): boolean;
  /** Gives the lock back, held or not, and whatever was opened for it. */
  release(): void;
}

/** Its low byte; the rest of a result code only says why. */
const SQLITE_BUSY = 5;

/**
 * A lock by name for processes of one user, where the folder itself cannot be locked. Node has no file locks, but SQLite
 * takes one for every transaction, and the kernel drops it with the process. The files are empty and stay: a few per
 * user, shared by names with the same hash, which costs a wait at most because no process holds two.
 */
function openLockFile(name: string): LockAttempt {
  const database = openDatabase(join(lockFolder(), `${sha256Hex(name).slice(0, 2)}.lock`));
  return {
    tryLock() {
      try {
        database.exec('BEGIN EXCLUSIVE');
        return true;
      } catch (thrown) {
        if ((Number((thrown as { errcode?: unknown }).errcode) & 0xff) === SQLITE_BUSY) return false;
        throw thrown;
      }
    },
    release: () => database.close(),
  };
}

/** Loaded only here: hosts with native calls never need it for this. */
function openDatabase(file: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite');
  return new sqlite.DatabaseSync(file, { timeout: 0 });
}

function lockFolder(): string {
  const folder = join(tmpdir(), `tool-runtime-locks-${process.geteuid?.() ?? 'user'}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  if (stat.isDirectory() && isPrivate(stat)) return folder;
  throw failure('host_configuration_needed', 'host_configuration_needed', 'Lock folder is not private to this user', {
    details: { gate: 'locks', next: 'Remove the tool-runtime-locks folder of this user from the temporary folder' },
  });
}
