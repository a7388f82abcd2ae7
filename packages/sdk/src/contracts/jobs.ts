/** Commands that outlive the call that started them. They belong to a session and end with it, unless they are kept. */
import type { RunningCommand } from './commands.ts';

export const JOB_STATES = ['running', 'exited', 'killed', 'timed_out'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobView {
  readonly id: string;
  readonly command: string;
  readonly state: JobState;
  readonly startedAt: number;
  /** Until its deadline; null when it has ended. */
  readonly remainingMs: number | null;
  /** It outlives its session. */
  readonly isKept: boolean;
  readonly code: number | null;
  readonly signal: string | null;
  /** Handles of streams that were too long to be given out whole; they can be read while the job runs. */
  readonly artifacts: JobArtifacts;
}

export interface JobArtifacts {
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What a stream printed since the last look, the oldest part dropped when it was too much. */
export interface StreamNews {
  readonly text: string;
  /** Offsets of the text's first byte and of the one after its last. */
  readonly from: number;
  readonly to: number;
  /** What was dropped before it was given out: bytes, and line breaks among them. */
  readonly missedBytes: number;
  readonly missedLines: number;
}

export interface JobOutput {
  readonly stdout: StreamNews;
  readonly stderr: StreamNews;
  /** Secrets masked in the streams since the last look. */
  readonly masked: number;
}

/** What a poll waits for. Without text and port it is any news. */
export interface JobWait {
  readonly waitMs: number;
  /** In what one of the streams printed, before or during the wait. */
  readonly text?: string | undefined;
  /** A TCP port that the job listens on. */
  readonly port?: number | undefined;
}

export interface JobNews extends JobView, JobOutput {
  /** Whether text and port were there; undefined when neither was asked for. */
  readonly isThere: boolean | undefined;
}

/** Room for one job, held before its command starts, so that no command has to be killed for want of it. */
export interface JobPlace {
  /** To be called with everything the command prints, from its first byte on: the first poll tells it. */
  feed(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  /** The command outlives its call. Answers the id of the job. */
  adopt(job: {
    readonly command: string;
    readonly running: RunningCommand;
    /** Handles of what is kept whole, while it runs. */
    readonly artifacts: () => JobArtifacts;
    /** Secrets masked so far. */
    readonly masked: () => number;
    /** Called once, when the command has ended. */
    readonly closeOutput: () => JobArtifacts;
  }): string;
  /** The command ended within its call. Does nothing after `adopt`. */
  release(): void;
}

export interface JobTerms {
  /** The whole tree is killed after so long, counted from now. */
  readonly lifeMs: number;
  /** It outlives its session, until its deadline or the end of the runtime. */
  readonly keep: boolean;
}

export interface JobTable {
  /** Throws E_POLICY when there are too many jobs, or too many that are kept. */
  reserve(terms: JobTerms): JobPlace;
  list(): readonly JobView[];
  /** Throws E_VALIDATION_FAIL for an unknown id. Waits until something happens or the time is up. */
  poll(id: string, wait: JobWait, signal: AbortSignal): Promise<JobNews>;
  write(id: string, bytes: Uint8Array, options: { readonly end: boolean }): Promise<void>;
  stop(id: string): Promise<JobView>;
  /** Stops everything but kept jobs. Answers a promise that resolves when those have ended, where there are any. */
  close(): Promise<{ readonly keptUntil: Promise<unknown> | undefined }>;
}
