/** One job: a running command, what it printed and how it ended. */
import type { CommandOutcome, RunningCommand } from '../contracts/commands.ts';
import type { JobArtifacts, JobNews, JobOutput, JobView, JobWait, StreamNews } from '../contracts/jobs.ts';
import { firstCharacterStart, wholeCharactersEnd } from '../text/encoding.ts';

/** The kernel does not report when a program begins to listen. */
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

const KEPT_BYTES = 256 * 1024;
const LINE_BREAK = 0x0a;

export function tellListeners({ listeners }: Job): void {
  for (const listener of [...listeners]) listener();
}

/** Waits, then gives out what is new. */
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

/**
 * One stream of a job: the newest bytes it printed, and how far they were given out.
 *
 * What was given out already is kept as long as there is room, because a wait for a text also looks at it.
 */
export class JobStream {
  #chunks: Uint8Array[] = [];
  #kept = 0;
  #total = 0;
  #handedOut = 0;
  /** Line breaks in what was dropped before it was given out. */
  #missedLines = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    this.#total += chunk.length;
    while (this.#kept > KEPT_BYTES) this.#drop(this.#chunks[0] ?? chunk, this.#kept - KEPT_BYTES);
  }

  #drop(oldest: Uint8Array, surplus: number): void {
    const dropped = oldest.subarray(0, surplus);
    const from = this.#total - this.#kept;
    this.#missedLines += countBreaks(dropped.subarray(Math.max(0, this.#handedOut - from)));
    if (dropped.length === oldest.length) this.#chunks.shift();
    else this.#chunks[0] = oldest.subarray(dropped.length);
    this.#kept -= dropped.length;
  }

  /** Bytes printed so far. */
  get total(): number {
    return this.#total;
  }

  /** Whether there is a whole character to give out. */
  get hasNews(): boolean {
    return this.#handedOut < this.#total && wholeCharactersEnd(this.since(this.#handedOut)) > 0;
  }

  /** What was not given out yet. Half a character at the end waits for its rest, until the stream has ended. */
  take(hasEnded: boolean): StreamNews {
    const bytes = this.since(this.#handedOut);
    const first = this.#total - bytes.length;
    const start = first > this.#handedOut ? firstCharacterStart(bytes) : 0;
    const end = Math.max(start, hasEnded ? bytes.length : wholeCharactersEnd(bytes));
    const [from, to] = [first + start, first + end];
    const news = {
      text: bytes.toString('utf8', start, end),
      from,
      to,
      missedBytes: from - this.#handedOut,
      missedLines: this.#missedLines,
    };
    this.#handedOut = to;
    this.#missedLines = 0;
    return news;
  }

  /** The bytes from this offset on, as far as they are kept. */
  since(offset: number): Buffer {
    const wanted: Uint8Array[] = [];
    let length = Math.min(this.#kept, this.#total - offset);
    for (let at = this.#chunks.length - 1; at >= 0 && length > 0; at--) {
      const chunk = this.#chunks[at] ?? new Uint8Array(0);
      const part = chunk.subarray(Math.max(0, chunk.length - length));
      wanted.unshift(part);
      length -= part.length;
    }
    return Buffer.concat(wanted);
  }
}

function countBreaks(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at !== -1; at = bytes.indexOf(LINE_BREAK, at + 1)) count += 1;
  return count;
}

/** Looks for a text in a stream, in what was printed before and in what comes, each byte about once. */
export class TextWatch {
  readonly #wanted: Buffer;
  readonly #stream: JobStream;
  #lookedTo = 0;

  constructor(stream: JobStream, text: string) {
    this.#stream = stream;
    this.#wanted = Buffer.from(text);
  }

  isThere(): boolean {
    const from = Math.max(0, this.#lookedTo - this.#wanted.length + 1);
    this.#lookedTo = this.#stream.total;
    return this.#stream.since(from).includes(this.#wanted);
  }
}
