/** The jobs of all sessions of a workspace: how many run, and those that outlive their session. */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { Job } from './job.ts';

/** Of those that have ended, so that nothing is missed. */
export const FINISHED_KEPT = 100;

interface KeptJob {
  readonly actor: string;
  readonly job: Job;
}

export class WorkspaceJobs {
  readonly #max: number;
  readonly #kept = new Map<string, KeptJob>();
  readonly #closing = new Set<Promise<unknown>>();
  #running = 0;
  #runningKept = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** A place among the running jobs. The returned function leaves it; called again it does nothing. */
  takePlace({ keep, maxKept }: { readonly keep: boolean; readonly maxKept: number }): () => void {
    if (this.#running >= this.#max) throw tooMany('workspace', 'limits.max_workspace_jobs', this.#max);
    if (keep && this.#runningKept >= maxKept) throw notKept(maxKept);
    const kept = keep ? 1 : 0;
    this.#running += 1;
    this.#runningKept += kept;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#running -= 1;
      this.#runningKept -= kept;
    };
  }

  /** Jobs whose session has ended: for later sessions of the same actor. */
  ofActor(actor: string): readonly Job[] {
    return [...this.#kept.values()].filter((kept) => kept.actor === actor).map(({ job }) => job);
  }

  add(actor: string, jobs: readonly Job[]): void {
    for (const job of jobs) this.#kept.set(job.id, { actor, job });
    const ended = [...this.#kept.values()].filter(({ job }) => job.outcome !== undefined);
    for (const { job } of ended.slice(0, -FINISHED_KEPT)) this.#kept.delete(job.id);
  }

  /** What a session leaves open for its kept jobs, closed when they have ended. */
  closeAfter(jobsEnded: Promise<unknown>, close: () => Promise<unknown>): void {
    const closing = jobsEnded.then(close).catch(() => undefined);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  /** Ends the kept jobs, and what was left open for them. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#kept.values()].map(({ job }) => job.running.stop()));
    this.#kept.clear();
    await Promise.allSettled(this.#closing);
  }
}

export function tooMany(where: string, field: string, max: number): ToolError {
  return policyDenial(`Too many jobs run in this ${where}: ${max}`, {
    details: {
      gate: 'jobs',
      reason: 'too_many_jobs',
      field,
      next: 'job_list shows those of this session: wait for one to end (job_poll), or end one (job_stop)',
    },
  });
}

function notKept(max: number): ToolError {
  const message =
    max === 0 ? 'Jobs of this session may not outlive it' : `Too many jobs outlive their sessions already: ${max}`;
  return policyDenial(message, {
    details: {
      gate: 'jobs',
      reason: 'too_many_kept_jobs',
      field: 'limits.max_kept_jobs',
      next: 'leave out keep: the job then ends with its session; the operator can raise limits.max_kept_jobs',
    },
  });
}
