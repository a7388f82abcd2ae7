/**
 * One program run to its end: no shell, no inherited environment, its output as a stream, its complaints bounded.
 *
 * Nothing is left behind: `ended` settles when the process is gone and both its pipes are closed, so also whatever it
 * started and handed them to.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import { ErrnoError, errnoCode } from './errno-error.ts';

const MAX_COMPLAINT_BYTES = 16 * 1024;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ProgramEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** The beginning of what it wrote to its error output. */
  readonly complaint: string;
}

export interface RunningProgram {
  readonly stdout: Readable;
  /** Rejects with E_INTERNAL when the program could not be started. */
  readonly ended: Promise<ProgramEnd>;
  kill(): void;
}

export function runProgram({ file, args }: Command, { folder }: { readonly folder: string }): RunningProgram {
  const child = spawn(file, args, { cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  // Contrary to their types, there are no pipes when descriptors ran out.
  if (!child.stdout || !child.stderr) {
    child.once('error', () => undefined);
    throw notStarted(new ErrnoError('EMFILE'));
  }
  const complaint = collectComplaint(child.stderr);
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', (thrown) => reject(notStarted(thrown)));
    child.once('close', (code) => resolve({ code, complaint: complaint() }));
  });
  // Whoever stops reading early still wants to await the end; a rejection nobody awaits yet is no crash.
  ended.catch(() => undefined);
  return { stdout: child.stdout, ended, kill: () => child.kill('SIGKILL') };
}

/** Node's own error names the program's place on this machine and all arguments. */
function notStarted(cause: Error): ToolError {
  return failure('tool_failure', 'retryable', 'Program could not be started', {
    details: { reason: errnoCode(cause) ?? 'unknown', next: 'Try again when fewer programs are running' },
    cause,
  });
}

function collectComplaint(stderr: Readable): () => string {
  const kept: Buffer[] = [];
  let bytes = 0;
  stderr.on('data', (chunk: Buffer) => {
    if (bytes < MAX_COMPLAINT_BYTES) kept.push(chunk.subarray(0, MAX_COMPLAINT_BYTES - bytes));
    bytes += chunk.length;
  });
  return () => Buffer.concat(kept).toString('utf8');
}
