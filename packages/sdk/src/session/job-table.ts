/** The jobs of one session: kept until the session ends, finished ones included, so that nothing is missed. */
import { ToolError } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import type { CommandOutcome } from '../contracts/commands.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { JobPlace, JobTable, JobTerms } from '../contracts/jobs.ts';
import { type Job, JobStream, pollJob, tellListeners, viewOf } from './job.ts';

export interface JobTableOptions {
  readonly clock: Clock;
  newId(): string;
  readonly actor: string;
  readonly maxJobs: number;
  /** Of all sessions together that may outlive theirs. */
  readonly maxKept: number;
  readonly workspaceJobs: WorkspaceJobs;
}

export function createJobTable(options: JobTableOptions): JobTable {
  const { maxJobs, maxKept, workspaceJobs, actor } = options;
  const jobs = new Map<string, Job>();
  let running = 0;

  function takePlace(keep: boolean): () => void {
    if (running >= maxJobs) throw tooMany('session', 'limits.max_jobs', maxJobs);
    const leaveShared = workspaceJobs.takePlace({ keep, maxKept });
    running += 1;
    let isHeld = true;
    return () => {
      if (isHeld) running -= 1;
      isHeld = false;
      leaveShared();
    };
  }

  /** Also those of earlier sessions of the same actor that were kept. */
  function all(): readonly Job[] {
    return [...workspaceJobs.ofActor(actor), ...jobs.values()];
  }

  function find(id: string): Job {
    const job = all().find((other) => other.id === id);
    if (job === undefined) throw unknownJob(id);
    return job;
  }

  function finish(job: Job, outcome: CommandOutcome | undefined, artifacts: ReturnType<Job['artifacts']>): void {
    job.artifacts = () => artifacts;
    job.outcome = outcome ?? FAILED;
    tellListeners(job);
    const finished = [...jobs.values()].filter((other) => other.outcome !== undefined);
    for (const old of finished.slice(0, -FINISHED_KEPT)) jobs.delete(old.id);
  }

  function reserve({ lifeMs, keep }: JobTerms): JobPlace {
    const leavePlace = takePlace(keep);
    const streams = { stdout: new JobStream(), stderr: new JobStream() };
    const startedAt = options.clock.now();
    const deadline = performance.now() + lifeMs;
    let job: Job | undefined;
    return {
      feed(stream, chunk) {
        streams[stream].add(chunk);
        if (job !== undefined) tellListeners(job);
      },
      adopt({ closeOutput, ...adopted }) {
        const added: Job = {
          ...newJob(`job-${options.newId()}`),
          ...adopted,
          startedAt,
          deadline,
          streams,
          isKept: keep,
        };
        job = added;
        watch(added, () => {
          leavePlace();
          return closeOutput();
        });
        return added.id;
      },
      release: () => job === undefined && leavePlace(),
    };
  }

  /** Until it ends by itself, or its time is up. */
  function watch(job: Job, leave: () => ReturnType<Job['artifacts']>): void {
    jobs.set(job.id, job);
    const timer = setTimeout(() => {
      job.isOverdue = true;
      void job.running.stop();
    }, job.deadline - performance.now());
    const onEnd = (outcome: CommandOutcome | undefined): void => {
      clearTimeout(timer);
      finish(job, outcome, leave());
    };
    job.running.done.then(onEnd, () => onEnd(undefined));
  }

  return {
    reserve,
    list: () => all().map(viewOf),
    poll: async (id, wait, signal) => pollJob(find(id), wait, signal),
    async write(id, bytes, { end }) {
      const job = find(id);
      if (job.outcome !== undefined) throw alreadyEnded(id);
      if (bytes.length > 0) await job.running.write(bytes);
      if (end) job.running.endInput();
    },
    async stop(id) {
      const job = find(id);
      await job.running.stop();
      await job.running.done.catch(() => undefined);
      return viewOf(job);
    },
    async close() {
      const isLeft = (job: Job): boolean => job.isKept && job.outcome === undefined;
      const left = [...jobs.values()].filter(isLeft);
      const others = [...jobs.values()].filter((job) => !isLeft(job));
      jobs.clear();
      workspaceJobs.add(actor, left);
      await Promise.allSettled(others.map((job) => job.running.stop()));
      return { keptUntil: left.length === 0 ? undefined : Promise.allSettled(left.map((job) => job.running.done)) };
    },
  };
}

/** Stands for a job whose runner broke: it certainly runs no more, and nothing is known of how it ended. */
const FAILED: CommandOutcome = {
  code: null,
  signal: 'unknown',
  stdout: { text: '', totalBytes: 0, truncated: false },
  stderr: { text: '', totalBytes: 0, truncated: false },
  networkEnforced: true,
};

function newJob(id: string): Pick<Job, 'id' | 'outcome' | 'isOverdue' | 'listeners' | 'maskedBefore'> {
  return { id, outcome: undefined, isOverdue: false, listeners: new Set(), maskedBefore: 0 };
}

function unknownJob(id: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `No such job in this session: ${id.slice(0, 80)}`, {
    path: 'job',
    details: { next: 'list the jobs of the session' },
  });
}

function alreadyEnded(id: string): ToolError {
  return new ToolError('E_SHELL', `Job has ended already: ${id}`, { details: { next: 'poll it for its output' } });
}

/** Of those that have ended, so that nothing is missed. */
const FINISHED_KEPT = 100;

interface KeptJob {
  readonly actor: string;
  readonly job: Job;
}

/** The jobs of all sessions of a workspace: how many run, and those that outlive their session. */
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

function tooMany(where: string, field: string, max: number): ToolError {
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
