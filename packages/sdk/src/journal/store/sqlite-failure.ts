/** Failures of the journal's storage, with what the operator should do. */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { failure, type RetryClass } from '../../contracts/failures.ts';

interface Meaning {
  readonly problem: string;
  readonly next: string;
  readonly retry?: RetryClass;
}

/** By primary result code. */
const MEANINGS: ReadonlyMap<number, Meaning> = new Map([
  [5, { problem: 'Journal is busy', next: 'end the process that holds it, then try again', retry: 'retryable' }],
  [8, { problem: 'Journal cannot be written', next: 'make the state folder writable' }],
  [10, { problem: 'Journal storage failed', next: 'check the disk of the state folder' }],
  [11, { problem: 'Journal is damaged', next: 'restore the state folder or start a new one' }],
  [13, { problem: 'Journal storage is full', next: 'free space for the state folder' }],
  [14, { problem: 'Journal cannot be opened', next: 'make the state folder readable and writable' }],
  [26, { problem: 'Journal is not a database', next: 'restore the state folder or start a new one' }],
]);

const UNKNOWN: Meaning = { problem: 'Journal failed', next: 'run doctor, check the state folder' };

const BUSY = 5;

/** Another process holds the lock; nothing was written. */
export function isBusy(thrown: unknown): boolean {
  const code = isToolError(thrown) ? thrown.details['sqlite'] : resultCode(thrown);
  return typeof code === 'number' && (code & 0xff) === BUSY;
}

/** For waits that are over in a moment, where nothing can be awaited. */
export function pauseBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** Any throw of a table operation as a ToolError; those that are one already pass unchanged. */
export function journalFailure(thrown: unknown): ToolError {
  if (isToolError(thrown)) return thrown;
  const code = resultCode(thrown);
  const { problem, next, retry = 'repair_needed' } = MEANINGS.get((code ?? 0) & 0xff) ?? UNKNOWN;
  return failure('journal_failure', retry, `${problem}: journal.db`, {
    details: { gate: 'journal', next, ...(code === undefined ? {} : { sqlite: code }) },
    cause: thrown,
  });
}

function resultCode(thrown: unknown): number | undefined {
  const code = (thrown as { errcode?: unknown } | null | undefined)?.errcode;
  return typeof code === 'number' ? code : undefined;
}

/** A journal whose rows do not fit together. */
export function damaged(seq: number, reason: string, cause?: unknown): ToolError {
  return failure('journal_failure', 'repair_needed', `Journal is damaged: record ${seq}`, {
    details: { seq, reason, next: 'run verify; restore the state folder or start a new one' },
    cause,
  });
}
