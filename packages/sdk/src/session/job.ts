/** One job: a running command, what it printed and how it ended. */
import type { CommandOutcome, RunningCommand } from '../contracts/commands.ts';
import type { JobArtifacts, JobNews, JobOutput, JobView, JobWait } from '../contracts/jobs.ts';
import { type JobStream, TextWatch } from './job-stream.ts';

/** The kernel does not tell when a program begins to listen. */
const PORT_LOOK_MS = 100;

export interface Job {
  readonly id: string;
  readonly command: string;
  readonly running: RunningCommand;
  readonly startedAt: number;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  readonly isKept: boolean;
  readonly streams: Readonly<Record<'stdout' | 'stderr', JobStream>>;
  readonly masked: () => number;
  /** Those that wait for news. */
  readonly listeners: Set<() => void>;
  maskedBefore: number;
  isOverdue: boolean;
  artifacts: () => JobArtifacts;
  outcome: CommandOutcome | undefined;
}

export function tellListeners({ listeners }: Job): void {
  for (const listener of [...listeners]) listener();
}

/** Waits, then hands out what is new. */
export async function pollJob(job: Job, wait: JobWait, signal: AbortSignal): Promise<JobNews> {
  const isMet = conditionOf(job, wait);
  if (isMet === undefined) {
    const hasNews = (): boolean => job.streams.stdout.hasNews || job.streams.stderr.hasNews;
    await until(job, hasNews, wait, signal);
    return { ...viewOf(job), ...takeOutput(job), isThere: undefined };
  }
  await until(job, isMet, wait, signal);
  return { ...viewOf(job), ...takeOutput(job), isThere: isMet() };
}

/** Undefined where any news will do. What was there once stays there. */
function conditionOf({ streams, running }: Job, { text, port }: JobWait): (() => boolean) | undefined {
  if (text === undefined && port === undefined) return undefined;
  const watches = text === undefined ? [] : Object.values(streams).map((stream) => new TextWatch(stream, text));
  const [hasText, listens] = [
    latched(() => text === undefined || watches.some((watch) => watch.isThere())),
    latched(() => port === undefined || running.isListening(port)),
  ];
  return () => hasText() && listens();
}

function latched(isTrue: () => boolean): () => boolean {
  let was = false;
  return () => {
    was ||= isTrue();
    return was;
  };
}

/** Several may wait for the same job; each ends with its own time and signal. */
function until(job: Job, isMet: () => boolean, { waitMs, port }: JobWait, signal: AbortSignal): Promise<void> {
  if (job.outcome !== undefined || waitMs <= 0 || signal.aborted || isMet()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      clearInterval(looking);
      job.listeners.delete(look);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const look = (): void => {
      if (job.outcome !== undefined || isMet()) done();
    };
    const timer = setTimeout(done, waitMs);
    const looking = port === undefined ? undefined : setInterval(look, PORT_LOOK_MS);
    signal.addEventListener('abort', done, { once: true });
    job.listeners.add(look);
  });
}

function takeOutput(job: Job): JobOutput {
  const hasEnded = job.outcome !== undefined;
  const masked = job.masked() - job.maskedBefore;
  job.maskedBefore += masked;
  return { stdout: job.streams.stdout.take(hasEnded), stderr: job.streams.stderr.take(hasEnded), masked };
}

export function viewOf(job: Job): JobView {
  const { id, command, startedAt, outcome, isKept } = job;
  return {
    id,
    command,
    startedAt,
    isKept,
    remainingMs: outcome === undefined ? Math.max(0, Math.round(job.deadline - performance.now())) : null,
    state: stateOf(job),
    code: outcome?.code ?? null,
    signal: outcome?.signal ?? null,
    artifacts: job.artifacts(),
  };
}

function stateOf({ outcome, isOverdue }: Job): JobView['state'] {
  if (outcome === undefined) return 'running';
  if (outcome.signal === null) return 'exited';
  return isOverdue ? 'timed_out' : 'killed';
}
