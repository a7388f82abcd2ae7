/**
 * One start of a program that is being checked: a plain child process with limits, gone with all its descendants when
 * the answer is there.
 *
 * Nothing isolates it: to check a program is to run it. What is still running after it ended is named, then killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import { errnoCode } from '../errno-error.ts';
import { awaitMarked, killMarked } from '../processes/marked-processes.ts';
import { signalGroup } from '../processes/spawned-process.ts';

export interface ProbeStart {
  /** Absolute path of the program, then its words. */
  readonly words: readonly [string, ...string[]];
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** `closed`: there is no standard input at all. */
  readonly stdin: 'empty' | 'closed';
  /** Then it is killed. */
  readonly timeoutMs: number;
  /** Asked to end (SIGTERM) after `afterMs`, killed `graceMs` later. */
  readonly terminate?: { readonly afterMs: number; readonly graceMs: number };
  /** Text in `variables` that marks its descendants. */
  readonly mark: string;
  readonly signal?: AbortSignal | undefined;
}

export interface ProbeEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly endedBy: NodeJS.Signals | null;
  /** It had to be killed. */
  readonly isOverdue: boolean;
  /** It still ran when it was asked to end. */
  readonly wasAsked: boolean;
  readonly stdout: ProbeText;
  readonly stderr: ProbeText;
  /** Programs it left running. */
  readonly leftRunning: readonly string[];
  readonly durationMs: number;
}

export interface ProbeText {
  readonly bytes: Buffer;
  /** Counts what was not kept as well. */
  readonly total: number;
}

const KEPT_BYTES = 1024 * 1024;
const LEAVING_MS = 500;
const DRAIN_MS = 1000;
/** A shell is the portable way to start a program with a descriptor closed. */
const WITHOUT_STDIN = ['/bin/sh', '-c', 'exec "$@" <&-', 'sh'] as const;

/** Throws E_SHELL when the program cannot be started; the reason of the signal when it is aborted. */
export async function startToolProbe(start: ProbeStart): Promise<ProbeEnd> {
  throwIfAborted(start.signal);
  const [program, ...args] = start.stdin === 'closed' ? [...WITHOUT_STDIN, ...start.words] : start.words;
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: start.folder,
    env: { ...start.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const texts = [collect(child.stdout), collect(child.stderr)] as const;
  const closed = once(child, 'close').catch(() => {});
  await untilStarted(child);
  const mark = { leader: child.pid ?? -1, text: start.mark };
  const forced = await untilEnded(child, start);
  const durationMs = performance.now() - began;
  const leftRunning = forced.isOverdue ? [] : await awaitMarked(mark, LEAVING_MS);
  await killMarked(mark);
  await Promise.race([closed, pause(DRAIN_MS, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  throwIfAborted(start.signal);
  const [stdout, stderr] = texts.map((text) => text()) as [ProbeText, ProbeText];
  return { exitCode: child.exitCode, endedBy: child.signalCode, ...forced, stdout, stderr, leftRunning, durationMs };
}

async function untilStarted(child: ChildProcess): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (thrown) {
    throw new ToolError('E_SHELL', `Program cannot be started: ${errnoCode(thrown) ?? 'unknown reason'}`, {
      details: { reason: 'not_started', next: 'make the file executable, or name the interpreter that runs it' },
      cause: thrown,
    });
  }
}

/** Waits for the end, asking and forcing as agreed. */
async function untilEnded(child: ChildProcess, { timeoutMs, terminate, signal }: ProbeStart) {
  const leader = child.pid ?? -1;
  let [isOverdue, wasAsked] = [false, false];
  const force = (): void => {
    isOverdue = true;
    signalGroup(leader, 'SIGKILL');
  };
  const timers = [setTimeout(force, timeoutMs)];
  const ask = (graceMs: number): void => {
    wasAsked = true;
    signalGroup(leader, 'SIGTERM');
    // Counted from here: a busy host may come late to the question.
    timers.push(setTimeout(force, graceMs));
  };
  if (terminate !== undefined) timers.push(setTimeout(ask, terminate.afterMs, terminate.graceMs));
  signal?.addEventListener('abort', force);
  try {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', force);
  }
  return { isOverdue, wasAsked };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  if (isToolError(signal.reason)) throw signal.reason;
  throw failure('cancellation', 'not_retryable', 'Check of a tool was cancelled', {
    details: { reason: 'cancelled' },
    cause: signal.reason,
  });
}

function collect(stream: Readable): () => ProbeText {
  const chunks: Buffer[] = [];
  let [kept, total] = [0, 0];
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (kept >= KEPT_BYTES) return;
    const part = chunk.subarray(0, KEPT_BYTES - kept);
    chunks.push(part);
    kept += part.length;
  });
  return () => ({ bytes: Buffer.concat(chunks), total });
}
