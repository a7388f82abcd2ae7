/**
 * One program run to its end: no shell, no inherited environment, its output as a stream, its complaints bounded.
 *
 * Nothing is left behind: `ended` settles when the process is gone and both its pipes are closed, so also whatever it
 * started and gave them to.
 */
import type { Readable } from 'node:stream';
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { markWords } from '../processes/process-keeper.ts';
import type { SpawnedProcess, Spawner, SpawnOptions } from '../processes/spawned-process.ts';
import { ADMISSION_FDS, ADMISSION_WORDS, admitProcess } from './admit-process.ts';

const MAX_COMPLAINT_BYTES = 16 * 1024;

export interface Command {
  /** Words that start it elsewhere, such as in the namespace of an overlay. */
  readonly before?: readonly string[];
  readonly file: string;
  readonly args: readonly string[];
  /** For bubblewrap: what it runs starts only when this says so. See `admitProcess`. */
  readonly verify?: (init: number) => boolean;
}

export interface ProgramEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** The beginning of what it wrote to its error output. */
  readonly complaint: string;
}

export interface RunningProgram {
  readonly stdout: Readable;
  readonly ended: Promise<ProgramEnd>;
  kill(): void;
}

export interface RunOptions {
  readonly folder: string;
  readonly spawner: Spawner;
  readonly readsOnDemand?: boolean;
}

/** Rejects with E_INTERNAL when the program could not be started, E_POLICY when its sandbox is not what was checked. */
export async function runProgram(
  { before = [], file, args, verify }: Command,
  { folder, spawner, readsOnDemand = false }: RunOptions,
): Promise<RunningProgram> {
  const admission = verify === undefined ? [] : [...ADMISSION_WORDS, ...markWords(2)];
  const extraFds = verify === undefined ? [] : ADMISSION_FDS.slice(0, 2);
  const [program = file, ...words] = [...before, file, ...admission, ...args];
  const child = await start(spawner, { program, args: words, cwd: folder, extraFds, readsOnDemand });
  if (verify !== undefined) await admitOrEnd(child, verify);
  const { stdout, stderr } = child;
  if (stdout === undefined || stderr === undefined) throw notStarted(new ErrnoError('EMFILE'));
  const complaint = collectComplaint(stderr);
  const ended = Promise.all([child.exited, closed(stdout), closed(stderr)]).then(([{ code, signal }]) => ({
    code: signal === null ? code : null,
    complaint: complaint(),
  }));
  return { stdout, ended, kill: () => child.kill('SIGKILL') };
}

async function admitOrEnd(child: SpawnedProcess, verify: (init: number) => boolean): Promise<void> {
  try {
    await admitProcess(child, { early: verify, all: verify }).admitted;
  } catch (thrown) {
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    await child.exited;
    throw thrown;
  }
}

function start(
  spawner: Spawner,
  command: Pick<SpawnOptions, 'program' | 'args' | 'cwd' | 'extraFds' | 'readsOnDemand'>,
): Promise<SpawnedProcess> {
  return spawner.spawn({ ...command, env: {}, stdin: 'null', stdout: 'pipe', stderr: 'pipe' }).catch((thrown) => {
    throw notStarted(thrown);
  });
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

/** Node's own error names the program's place on this machine and all arguments. */
function notStarted(cause: unknown): ToolError {
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
