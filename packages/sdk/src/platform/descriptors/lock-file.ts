/**
 * A lock by name for processes of one user, where the file itself cannot be locked.
 *
 * Node has no file locks of its own, but SQLite takes one for every transaction, and the kernel drops it with the
 * process. The files are empty and stay: a few per user, shared by names that fall together, which costs a wait at most
 * because nobody holds two.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { failure } from '../../contracts/failures.ts';
import { sha256Hex } from '../digest.ts';
import { isPrivate } from './state-safety.ts';

/** A lock that may be tried again and again. */
export interface LockAttempt {
  /** False while somebody else has it. */
  tryLock(): boolean;
  /** Gives the lock back, held or not, and whatever was opened for it. */
  release(): void;
}

/** Its low byte; the rest of a result code only says why. */
const SQLITE_BUSY = 5;

export function openLockFile(name: string): LockAttempt {
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
