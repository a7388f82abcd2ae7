/**
 * A few parse threads with one queue. Threads start with the first job, end after a quiet while, and are replaced
 * when they die: the file they died on is tried once more, then skipped, and no other file is lost.
 */
import { ToolError } from '@tool-runtime/protocol';
import { indexClosed } from './index-closed.ts';
import type { ParseJob, ParseOutcome } from './parse-outcome.ts';
import { ParseThread, type PendingJob } from './parse-thread.ts';

export interface ParsePoolOptions {
  readonly size: number;
  readonly heapMb: number;
}

export interface ParsePool {
  parse(job: ParseJob): Promise<ParseOutcome>;
  /** Resolves when another job would be taken up soon; keeps callers from reading files far ahead. */
  room(): Promise<void>;
  close(): Promise<void>;
}

/** A second job waits in the thread, so that it never idles while an answer travels. */
const DEPTH = 2;
const MAX_CRASHES = 2;
const QUIET_MS = 10_000;

export function createParsePool(options: ParsePoolOptions): ParsePool {
  return new Pool(options);
}

class Pool implements ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #queue: PendingJob[] = [];
  readonly #threads = new Set<ParseThread>();
  readonly #waiting: (() => void)[] = [];
  #depth = DEPTH;
  #quiet: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ParsePoolOptions) {
    this.#options = options;
  }

  parse(job: ParseJob): Promise<ParseOutcome> {
    if (this.#isClosed) return Promise.reject(indexClosed());
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, crashes: 0, resolve, reject });
      this.#dispatch();
    });
  }

  async room(): Promise<void> {
    while (this.#queue.length >= this.#options.size && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#quiet);
    for (const { reject } of this.#queue.splice(0)) reject(indexClosed());
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
    this.#wake();
  }

  #dispatch(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    while (this.#queue.length > 0) {
      const thread = this.#freest();
      if (thread === undefined) break;
      const next = this.#queue.shift();
      if (next !== undefined) thread.send(next);
    }
    if (this.#queue.length < this.#options.size) this.#wake();
  }

  /** The least busy thread that takes a job; a new one when all others have work. */
  #freest(): ParseThread | undefined {
    const usable = [...this.#threads].filter((thread) => !thread.isWorn);
    const best = usable.sort((left, right) => left.load - right.load)[0];
    if (best?.load === 0) return best;
    if (this.#threads.size < this.#options.size) return this.#start();
    return best !== undefined && best.load < this.#depth ? best : undefined;
  }

  #start(): ParseThread {
    const thread = new ParseThread(this.#options.heapMb, {
      onIdle: (one) => this.#afterAnswer(one),
      onCrash: (one, left) => this.#afterExit(one, left),
    });
    this.#threads.add(thread);
    return thread;
  }

  #afterAnswer(thread: ParseThread): void {
    if (thread.isWorn && thread.load === 0) {
      this.#threads.delete(thread);
      void thread.terminate();
    }
    this.#dispatch();
    const isQuiet = this.#queue.length === 0 && [...this.#threads].every(({ load }) => load === 0);
    if (isQuiet) this.#quiet = setTimeout(() => this.#rest(), QUIET_MS).unref();
  }

  #rest(): void {
    for (const thread of this.#threads) {
      this.#threads.delete(thread);
      void thread.terminate();
    }
  }

  /** Which of its jobs ended the thread is certain only while it has one at a time: so it goes on. */
  #afterExit(thread: ParseThread, left: readonly PendingJob[]): void {
    this.#threads.delete(thread);
    if (this.#isClosed || !thread.isReady) {
      for (const { reject } of left) reject(this.#isClosed ? indexClosed() : unstartable(thread.failure));
      this.#dispatch();
      return;
    }
    const [culprit] = left;
    if (culprit === undefined) return;
    this.#depth = 1;
    culprit.crashes += 1;
    const isGivenUp = culprit.crashes >= MAX_CRASHES;
    this.#queue.unshift(...left.slice(isGivenUp ? 1 : 0));
    if (isGivenUp) culprit.resolve({ skipped: 'parser_crashed' });
    this.#dispatch();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function unstartable(cause: unknown): ToolError {
  return new ToolError('E_INTERNAL', 'A parse thread could not start', {
    details: { reason: 'worker_start', next: 'Check that the grammars and languages of the package are installed' },
    cause,
  });
}
