/** The jobs of one session: kept until the session ends, finished ones included, so that nothing is missed. */
import { ToolError } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import type { CommandOutcome, RunningCommand } from '../contracts/commands.ts';
import type { JobArtifacts, JobOutput, JobTable, JobView } from '../contracts/jobs.ts';

const UNREAD_BYTES = 256 * 1024;
const FINISHED_KEPT = 100;

type StreamName = 'stdout' | 'stderr';

interface Job {
  readonly id: string;
  readonly command: string;
  readonly running: RunningCommand;
  readonly startedAt: number;
  readonly unread: Record<StreamName, Unread>;
  readonly closeOutput: () => JobArtifacts;
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

export function createJobTable(options: { readonly clock: Clock; newId(): string }): JobTable {
  const jobs = new Map<string, Job>();

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

  return {
    adopt({ command, running, closeOutput }) {
      const job: Job = {
        id: `job-${options.newId()}`,
        command,
        running,
        startedAt: options.clock.now(),
        unread: { stdout: new Unread(), stderr: new Unread() },
        closeOutput,
        artifacts: {},
        outcome: undefined,
        wake: Promise.withResolvers(),
      };
      jobs.set(job.id, job);
      running.done.then(
        (outcome) => finish(job, outcome),
        () => finish(job, undefined),
      );
      return {
        id: job.id,
        feed(stream, chunk) {
          job.unread[stream].add(chunk);
          job.wake.resolve();
        },
      };
    },
    list: () => [...jobs.values()].map(viewOf),
    async poll(id, waitMs, signal) {
      const job = find(id);
      if (job.outcome === undefined && job.unread.stdout.isEmpty && job.unread.stderr.isEmpty && waitMs > 0) {
        await news(job, waitMs, signal);
      }
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

async function news(job: Job, waitMs: number, signal: AbortSignal): Promise<void> {
  job.wake = Promise.withResolvers();
  const timer = setTimeout(job.wake.resolve, waitMs);
  signal.addEventListener('abort', () => job.wake.resolve(), { once: true });
  await job.wake.promise;
  clearTimeout(timer);
}

function takeOutput(job: Job): JobOutput {
  const missedBytes = job.unread.stdout.missed + job.unread.stderr.missed;
  job.unread.stdout.missed = 0;
  job.unread.stderr.missed = 0;
  return { stdout: job.unread.stdout.take(), stderr: job.unread.stderr.take(), missedBytes };
}

function viewOf({ id, command, startedAt, outcome, artifacts }: Job): JobView {
  return {
    id,
    command,
    startedAt,
    state: outcome === undefined ? 'running' : outcome.signal === null ? 'exited' : 'killed',
    code: outcome?.code ?? null,
    signal: outcome?.signal ?? null,
    artifacts,
  };
}

function alreadyEnded(id: string): ToolError {
  return new ToolError('E_SHELL', `Job has ended already: ${id}`, { details: { next: 'poll it for its output' } });
}
