/** Commands that outlive the call that started them. They belong to a session and end with it. */
import type { RunningCommand } from './commands.ts';

export const JOB_STATES = ['running', 'exited', 'killed', 'timed_out'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobView {
  readonly id: string;
  readonly command: string;
  readonly state: JobState;
  readonly startedAt: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Handles of streams too long to be shown whole; known once the job has ended. */
  readonly artifacts: JobArtifacts;
}

export interface JobArtifacts {
  readonly stdout?: string;
  readonly stderr?: string;
}

export interface JobOutput {
  /** What was printed since the last look, the oldest part dropped when it was too much. */
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes that were dropped because they were not read in time. */
  readonly missedBytes: number;
}

/** Room for one job, held before its command starts, so that no command has to be killed for want of it. */
export interface JobPlace {
  /** To be called with everything the command prints, from its first byte on: the first poll tells it. */
  feed(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  /** The command outlives its call. Answers the id of the job. */
  adopt(job: {
    readonly command: string;
    readonly running: RunningCommand;
    /** Called once, when the command has ended. */
    readonly closeOutput: () => JobArtifacts;
  }): string;
  /** The command ended within its call. Does nothing after `adopt`. */
  release(): void;
}

export interface JobTable {
  /** `lifeMs`: the whole tree is killed after so long, counted from now. Throws E_POLICY when there are too many jobs. */
  reserve(lifeMs: number): JobPlace;
  list(): readonly JobView[];
  /** Throws E_VALIDATION_FAIL for an unknown id. Waits until something happens or the time is up. */
  poll(id: string, waitMs: number, signal: AbortSignal): Promise<JobView & JobOutput>;
  write(id: string, bytes: Uint8Array, options: { readonly end: boolean }): Promise<void>;
  stop(id: string): Promise<JobView>;
  /** Stops everything. */
  close(): Promise<void>;
}
