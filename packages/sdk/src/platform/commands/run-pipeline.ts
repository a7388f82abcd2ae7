/**
 * One pipeline: its processes run at once, each one's output being the next one's input through a pipe of the kernel.
 *
 * Its end is that of its last process, as in a shell without `pipefail`.
 */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ProcessEnd } from '../../contracts/commands.ts';
import type { InputSource, Link } from '../processes/spawned-process.ts';
import {
  type ReadyProgram,
  type SandboxedProcess,
  type SandboxSetting,
  spawnSandboxed,
} from '../sandbox/sandboxed-process.ts';

export interface PipelineSetting extends SandboxSetting {
  readonly stop: AbortSignal;
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
}

export interface RunningPipeline {
  readonly pids: readonly number[];
  /** Of the first process, when it was asked for. */
  readonly stdin: Writable | undefined;
  /** Settles when nothing of it is left and all output was seen. */
  readonly ended: Promise<ProcessEnd>;
}

/** What a process outside our reach may still print through a pipe it inherited is not waited for longer. */
const LAST_WORDS_MS = 100;

/** Throws E_SHELL or E_POLICY when one of the programs cannot be started; the others are ended first. */
export async function startPipeline(
  programs: readonly ReadyProgram[],
  stdin: InputSource,
  setting: PipelineSetting,
): Promise<RunningPipeline> {
  const running: SandboxedProcess[] = [];
  try {
    await startAll(programs, stdin, { setting, running });
    await Promise.all(running.map(({ admitted }) => admitted));
  } catch (thrown) {
    for (const { process } of running) process.kill('SIGKILL');
    await Promise.allSettled(running.map(({ ended }) => ended));
    throw thrown;
  }
  const drained = running.flatMap(({ process }) => [
    watchOutput(process.stdout, (chunk) => setting.onOutput('stdout', chunk)),
    watchOutput(process.stderr, (chunk) => setting.onOutput('stderr', chunk)),
  ]);
  return {
    pids: running.map(({ process }) => process.pid),
    stdin: running[0]?.process.stdin,
    ended: untilEnded(running, drained),
  };
}

async function startAll(
  programs: readonly ReadyProgram[],
  stdin: InputSource,
  { setting, running }: { readonly setting: PipelineSetting; readonly running: SandboxedProcess[] },
): Promise<void> {
  const links: Link[] = [];
  try {
    for (const [index, program] of programs.entries()) {
      if (setting.stop.aborted) return;
      const before = links.at(-1) ?? stdin;
      const isLast = index === programs.length - 1;
      if (!isLast) links.push(setting.spawner.createLink());
      const stdout = isLast ? 'pipe' : (links.at(-1) ?? 'pipe');
      running.push(await spawnSandboxed(setting, program, { stdin: before, stdout, stderr: 'pipe' }));
    }
  } finally {
    for (const link of links) link.close();
  }
}

interface WatchedOutput {
  readonly closed: Promise<unknown>;
  stop(): void;
}

function watchOutput(stream: Readable | undefined, onChunk: (chunk: Uint8Array) => void): WatchedOutput {
  if (stream === undefined) return { closed: Promise.resolve(), stop: () => {} };
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.on('data', onChunk);
  return { closed, stop: () => stream.destroy() };
}

async function untilEnded(
  running: readonly SandboxedProcess[],
  outputs: readonly WatchedOutput[],
): Promise<ProcessEnd> {
  const ends = await Promise.all(running.map(({ ended }) => ended));
  await Promise.race([Promise.all(outputs.map(({ closed }) => closed)), lastWords()]);
  for (const output of outputs) output.stop();
  return ends.find(({ notStarted }) => notStarted !== undefined) ?? ends.at(-1) ?? { code: 0, signal: null };
}

/** A busy host may be late: what lies in the pipes by now is read in the turns of the event loop that follow. */
async function lastWords(): Promise<void> {
  await delay(LAST_WORDS_MS, undefined, { ref: false });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}
