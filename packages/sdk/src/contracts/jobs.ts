/** Commands that outlive the call that started them. They belong to a session and end with it. */
import type { RunningCommand } from './commands.ts';

export type JobState = 'running' | 'exited' | 'killed';

export interface JobView {
  readonly id: string;
  readonly command: string;
  readonly state: JobState;
  readonly startedAt: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Handles of streams too long to be told whole; known once the job has ended. */
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
  /** Bytes that were dropped because nobody looked in time. */
  readonly missedBytes: number;
}

export interface JobTable {
  /** Takes over a running command; `feed` must be called with everything it prints from now on. */
  adopt(job: {
    readonly command: string;
    readonly running: RunningCommand;
    /** Called once, when the command has ended. */
    readonly closeOutput: () => JobArtifacts;
  }): {
    readonly id: string;
    feed(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  };
  list(): readonly JobView[];
  /** Throws E_VALIDATION_FAIL for an unknown id. Waits until something happens or the time is up. */
  poll(id: string, waitMs: number, signal: AbortSignal): Promise<JobView & JobOutput>;
  write(id: string, bytes: Uint8Array, options: { readonly end: boolean }): Promise<void>;
  stop(id: string): Promise<JobView>;
  /** Stops everything. */
  close(): Promise<void>;
}
