/** What counts as safe in the state folder, and how a refusal reads. Messages never hold the path: it names the user. */
import type { Stats } from 'node:fs';
import { failure } from '../../contracts/failures.ts';
import { errnoCode } from '../errno-error.ts';

const OTHERS = 0o077;

/** True for a file or folder that belongs to this user and that no other user can touch. Without owners, always true. */
export function isPrivate(stat: Stats): boolean {
  return isOwn(stat) && (process.geteuid === undefined || (stat.mode & OTHERS) === 0);
}

export function isOwn(stat: Stats): boolean {
  return process.geteuid === undefined || stat.uid === process.geteuid();
}

export function unsafeState(reason: string, next: string): Error {
  return failure('host_configuration_needed', 'host_configuration_needed', `State folder is not safe: ${reason}`, {
    details: { gate: 'state', reason, next },
  });
}

/** Runs a step on the state folder; a failed system call becomes a ToolError, anything else passes unchanged. */
export function inState<T>(step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined) throw thrown;
    throw failure('journal_failure', 'repair_needed', `State folder cannot be used: ${code}`, {
      details: { gate: 'state', reason: code, next: 'choose a state folder that this user can write' },
      cause: thrown,
    });
  }
}
