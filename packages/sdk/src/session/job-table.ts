/** The jobs of one session: kept until the session ends, finished ones included, so that nothing is missed. */
import { ToolError } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import type { CommandOutcome, RunningCommand } from '../contracts/commands.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { JobArtifacts, JobOutput, JobPlace, JobTable, JobView } from '../contracts/jobs.ts';

const UNREAD_BYTES = 256 * 1024;
const FINISHED_KEPT = 100;

type StreamName = 'stdout' | 'stderr';

interface Job {
  readonly id: string;
  readonly command: string;
  readonly running: RunningCommand;
  readonly startedAt: number;
  readonly unread: Readonly<Record<StreamName, Unread>>;
  readonly closeOutput: () => JobArtifacts;
  isOverdue: boolean;
  artifacts: JobArtifacts;
  outcome: CommandOutcome | undefined;
  /** Wakes whoever waits for news. */
  wake: PromiseWithResolvers<void>;
}

/** The newest bytes nobody has seen yet. */
class Unread {
  readonly #decoder = new TextDecoder();
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  missed = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > UNREAD_BYTES && this.#chunks.length > 1) {
      const dropped = this.#chunks.shift()?.length ?? 0;
      this.#bytes -= dropped;
      this.missed += dropped;
    }
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  take(): string {
    const text = this.#decoder.decode(Buffer.concat(this.#chunks), { stream: true });
    this.#chunks = [];
    this.#bytes = 0;
    return text;
  }
}

/** Jobs of all sessions of a workspace. */
export interface JobCount {
  running: number;
  readonly max: number;
}

export interface JobTableOptions {
  readonly clock: Clock;
  newId(): string;
  readonly maxJobs: number;
  readonly jobCount: JobCount;
}

export function createJobTable(options: JobTableOptions): JobTable {
  const { maxJobs, jobCount } = options;
  const jobs = new Map<string, Job>();
  let running = 0;

  function takePlace(): () => void {
    if (running >= maxJobs) throw tooMany('session', 'limits.max_jobs', maxJobs);
    if (jobCount.running >= jobCount.max) throw tooMany('workspace', 'limits.max_workspace_jobs', jobCount.max);
    running += 1;
    jobCount.running += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      jobCount.running -= 1;
    };
  }

  function find(id: string): Job {
    const job = jobs.get(id);
    if (job !== undefined) return job;
    throw new ToolError('E_VALIDATION_FAIL', `No such job in this session: ${id.slice(0, 80)}`, {
      path: 'job',
      details: { next: 'list the jobs of the session' },
    });
  }

  function finish(job: Job, outcome: CommandOutcome | undefined): void {
    job.artifacts = job.closeOutput();
    job.outcome = outcome ?? FAILED;
    job.wake.resolve();
    const finished = [...jobs.values()].filter((other) => other.outcome !== undefined);
    for (const old of finished.slice(0, -FINISHED_KEPT)) jobs.delete(old.id);
  }

  function reserve(lifeMs: number): JobPlace {
    const leavePlace = takePlace();
    const unread = { stdout: new Unread(), stderr: new Unread() };
    const startedAt = options.clock.now();
    const since = performance.now();
    let job: Job | undefined;
    return {
      feed(stream, chunk) {
        unread[stream].add(chunk);
        job?.wake.resolve();
      },
      adopt(adopted) {
        job = { ...newJob(`job-${options.newId()}`), ...adopted, startedAt, unread };
        keep(job, lifeMs - (performance.now() - since), leavePlace);
        return job.id;
      },
      release: () => job === undefined && leavePlace(),
    };
  }

  /** Until it ends by itself, or its time is up. */
  function keep(job: Job, leftMs: number, leavePlace: () => void): void {
    jobs.set(job.id, job);
    const timer = setTimeout(() => {
      job.isOverdue = true;
      void job.running.stop();
    }, leftMs);
    const onEnd = (outcome: CommandOutcome | undefined): void => {
      clearTimeout(timer);
      leavePlace();
      finish(job, outcome);
    };
    job.running.done.then(onEnd, () => onEnd(undefined));
  }

  return {
    reserve,
    list: () => [...jobs.values()].map(viewOf),
    async poll(id, waitMs, signal) {
      const job = find(id);
      if (job.outcome === undefined && job.unread.stdout.isEmpty && job.unread.stderr.isEmpty && waitMs > 0) {
        await news(job, waitMs, signal);
      }
      // Whoever polls next waits for what comes next.
      if (job.outcome === undefined) job.wake = Promise.withResolvers();
      return { ...viewOf(job), ...takeOutput(job) };
    },
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
      await Promise.allSettled([...jobs.values()].map((job) => job.running.stop()));
      jobs.clear();
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

function newJob(id: string): Pick<Job, 'id' | 'artifacts' | 'outcome' | 'isOverdue' | 'wake'> {
  return { id, artifacts: {}, outcome: undefined, isOverdue: false, wake: Promise.withResolvers() };
}

/** Several may wait for the same job; each ends with its own time and signal. */
async function news(job: Job, waitMs: number, signal: AbortSignal): Promise<void> {
  const { wake } = job;
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
  const timer = setTimeout(interrupt, waitMs);
  signal.addEventListener('abort', () => interrupt(), { once: true });
  await Promise.race([wake.promise, interrupted]);
  clearTimeout(timer);
}

function takeOutput(job: Job): JobOutput {
  const missedBytes = job.unread.stdout.missed + job.unread.stderr.missed;
  job.unread.stdout.missed = 0;
  job.unread.stderr.missed = 0;
  return { stdout: job.unread.stdout.take(), stderr: job.unread.stderr.take(), missedBytes };
}

function stateOf(outcome: CommandOutcome | undefined, isOverdue: boolean): JobView['state'] {
  if (outcome === undefined) return 'running';
  if (outcome.signal === null) return 'exited';
  return isOverdue ? 'timed_out' : 'killed';
}

function viewOf({ id, command, startedAt, outcome, isOverdue, artifacts }: Job): JobView {
  return {
    id,
    command,
    startedAt,
    state: stateOf(outcome, isOverdue),
    code: outcome?.code ?? null,
    signal: outcome?.signal ?? null,
    artifacts,
  };
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

function alreadyEnded(id: string): ToolError {
  return new ToolError('E_SHELL', `Job has ended already: ${id}`, { details: { next: 'poll it for its output' } });
}
