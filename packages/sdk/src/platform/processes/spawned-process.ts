/** What a spawner takes and gives: one process, leader of its own session, with exactly the descriptors it is given. */
import type { Readable, Writable } from 'node:stream';
import { errnoCode } from '../errno-error.ts';
import type { ExitStatus } from './native-spawn.ts';

/** Carries one process's output to the next one's input. Made by the spawner that starts both, the writer first. */
export interface Link {
  /** Closes the host's ends; to be called when both processes run, or will not. */
  close(): void;
}

export type InputSource = 'pipe' | 'null' | number | Link;
export type OutputSink = 'pipe' | 'null' | number | Link;

export interface SpawnOptions {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: InputSource;
  readonly stdout: OutputSink;
  readonly stderr: Exclude<OutputSink, Link>;
  /**
   * Output is read when it is asked for and not ahead, so that what gathers until then comes in one piece. Where Node itself
   * starts the process, some is read ahead all the same.
   */
  readonly readsOnDemand?: boolean;
  /**
   * The child's descriptors from 3 on: one of the host's, a pipe the host reads, or one the child waits at: a `gate` for
   * a byte, a `pause` for the end of the file.
   */
  readonly extraFds?: readonly ExtraFd[];
  /** The host may end without waiting for it. */
  readonly background?: boolean;
}

export type ExtraFd = number | 'pipe' | 'gate' | 'pause';

/** To be opened or closed once the child is admitted or killed. Closing alone does not keep the child from going on. */
export interface Gate {
  open(): void;
  close(): void;
}

/** The streams are there where a `pipe` was asked for. A write to a closed pipe is dropped and is no error. */
export interface SpawnedProcess {
  readonly pid: number;
  readonly stdin?: Writable;
  readonly stdout?: Readable;
  readonly stderr?: Readable;
  /** In the order of `extraFds`, those that are pipes. */
  readonly extra: readonly Readable[];
  /** Those of `extraFds`, when they were asked for. */
  readonly gate?: Gate;
  readonly pause?: Gate;
  readonly exited: Promise<ExitStatus>;
  /** Signals the whole process group. One that is gone is no error. */
  kill(signal: NodeJS.Signals): void;
}

export interface Spawner {
  readonly backend: 'native' | 'node';
  /** Rejects with an error that has an errno `code` when the program cannot be started; nothing is left open then. */
  spawn(options: SpawnOptions): Promise<SpawnedProcess>;
  createLink(): Link;
}

/** Gone already, or not ours to signal any more (a set-user-id program): either way there is nothing left to do. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}
