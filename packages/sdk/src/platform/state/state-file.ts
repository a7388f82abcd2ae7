/** Files in the state folder: regular, ours, closed to others (0600), never reached through a link. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inState, isPrivate, unsafeState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';

/** A FIFO planted under the name must not make the open wait; Windows knows neither flag. */
const CAREFUL = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Creates the file or checks it, and returns its path. Also refuses when a companion file of SQLite's is a link.
 *
 * A file that is there is never opened: closing it again would drop the locks that SQLite holds on it for another
 * connection of this process.
 */
export function openStateFile(folder: string, name: string): string {
  const path = join(folder, name);
  return inState(() => {
    if (!createIfMissing(path)) requireSafe(lstatSync(path), privateOnly);
    for (const suffix of ['-wal', '-shm']) refuseLink(`${path}${suffix}`);
    return path;
  });
}

export function readStateText(folder: string, name: string): string | undefined {
  return readStateFile(join(folder, name))?.toString('utf8');
}

/** Undefined when there is no such file. */
export function readStateFile(path: string, openFile: typeof openChecked = openChecked): Buffer | undefined {
  return inState(() => {
    let file: number;
    try {
      file = openFile(path, constants.O_RDONLY);
    } catch (thrown) {
      if (errnoCode(thrown) === 'ENOENT') return undefined;
      throw thrown;
    }
    try {
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  });
}

export function writeStateText(folder: string, name: string, text: string): void {
  inState(() => placeDraft(folder, Buffer.from(text), (draft) => renameSync(draft, join(folder, name))));
}

/** Writes the bytes under a name of their own and lets `place` put that where it belongs: whole or not at all. */
export function placeDraft(folder: string, bytes: Uint8Array, place: (draft: string) => void): void {
  const draft = join(folder, `.draft-${randomBytes(8).toString('hex')}`);
  const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
    place(draft);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

function createIfMissing(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** The descriptor of a file that is safe to use. Throws ToolError for one that is not, and what `open` throws. */
export function openChecked(path: string, flags: number): number {
  return openIf(path, flags, privateOnly);
}

function privateOnly(stat: Stats): Error | undefined {
  return isPrivate(stat) ? undefined : unsafeState('a file in it is open to others', 'chmod 600 the files in it');
}

/** Like `openEvidence`, without opening it: SQLite may hold locks on it for this process. */
export function checkEvidence(path: string): void {
  requireSafe(lstatSync(path), () => undefined);
}

/** For reading only, regardless of the owner: evidence may be on other media or in another user's copy. */
export function openEvidence(path: string): number {
  return openIf(path, constants.O_RDONLY, () => undefined);
}

function openIf(path: string, flags: number, refusal: (stat: Stats) => Error | undefined): number {
  let file: number;
  try {
    file = openSync(path, flags | CAREFUL, 0o600);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ELOOP') throw unsafeState('a file in it is a symbolic link', 'remove the link');
    throw thrown;
  }
  try {
    requireSafe(fstatSync(file), refusal);
    return file;
  } catch (thrown) {
    closeSync(file);
    throw thrown;
  }
}

function requireSafe(stat: Stats, refusal: (stat: Stats) => Error | undefined): void {
  if (stat.isSymbolicLink()) throw unsafeState('a file in it is a symbolic link', 'remove the link');
  const error = stat.isFile() ? refusal(stat) : unsafeState('a file in it is not a regular file', 'remove it');
  if (error !== undefined) throw error;
}

export function refuseLink(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) throw unsafeState('a file in it is a symbolic link', 'remove the link');
}

const DAY_MS = 24 * 60 * 60 * 1000;
const NAME = 'retention.stamp';

export interface DailyStamp {
  /** True once a day; a folder that has no stamp yet gets one, and its first day begins. */
  takeDay(now: number): boolean;
}

/** When something was last done in a state folder, by whichever process: the time of an empty file. */
export function createDailyStamp(folder: string): DailyStamp {
  const path = join(folder, NAME);
  return {
    takeDay: (now) =>
      inState(() => {
        const last = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
        // A clock that was set back must not stop it for years.
        if (last !== undefined && Math.abs(now - last) < DAY_MS) return false;
        openStateFile(folder, NAME);
        utimesSync(path, now / 1000, now / 1000);
        return last !== undefined;
      }),
  };
}
