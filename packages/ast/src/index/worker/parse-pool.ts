/**
 * A few parse processes with one queue. They start with the first job, end after a quiet while, and are replaced
 * when they die: the file they died on is tried once more, then skipped, and no other file is lost.
 */
import { ToolError } from '@tool-runtime/protocol';
import { indexClosed } from './index-closed.ts';
import type { ParseJob, ParseOutcome } from './parse-outcome.ts';
import { ParseProcess, type PendingJob } from './parse-process.ts';

export interface ParsePoolOptions {
  readonly size: number;
  readonly heapMb: number;
  /** Called when the processes have ended after a quiet while, with the bytes they parsed since they started. */
  onRest?(bytes: number): void;
}

export interface ParsePool {
  parse(job: ParseJob): Promise<ParseOutcome>;
  /** Resolves when another job would be taken up soon; keeps callers from reading files far ahead. */
  room(): Promise<void>;
  close(): Promise<void>;
}

/** So many jobs wait in a process that neither side is woken for each, and none idles while the others travel. */
const DEPTH = 24;
/** Large files take long: with few of them one process would still work when the others are done. */
const DEPTH_BYTES = 256 * 1024;
const MAX_CRASHES = 2;
const QUIET_MS = 3_000;

export function createParsePool(options: ParsePoolOptions): ParsePool {
  return new Pool(options);
}

class Pool implements ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #queue: PendingJob[] = [];
  readonly #processes = new Set<ParseProcess>();
  readonly #waiting: (() => void)[] = [];
  #depth = DEPTH;
  #bytes = 0;
  #quiet: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ParsePoolOptions) {
    this.#options = options;
  }

  parse(job: ParseJob): Promise<ParseOutcome> {
    if (this.#isClosed) return Promise.reject(indexClosed());
    this.#bytes += job.bytes.byteLength;
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
    await Promise.all([...this.#processes].map((parser) => parser.terminate()));
    this.#wake();
  }

  #dispatch(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    while (this.#queue.length > 0) {
      const parser = this.#freest();
      if (parser === undefined) break;
      const next = this.#queue.shift();
      if (next !== undefined) parser.send(next);
    }
    if (this.#queue.length < this.#options.size) this.#wake();
  }

  /** The least busy process that takes a job; a new one when all others have work. */
  #freest(): ParseProcess | undefined {
    let best: ParseProcess | undefined;
    for (const parser of this.#processes) {
      if (!parser.isWorn && parser.bytesInFlight < (best?.bytesInFlight ?? Number.POSITIVE_INFINITY)) best = parser;
    }
    if (best?.load === 0) return best;
    if (this.#processes.size < this.#options.size) return this.#start();
    if (best === undefined || best.load >= this.#depth) return undefined;
    return best.bytesInFlight < DEPTH_BYTES ? best : undefined;
  }

  #start(): ParseProcess {
    const parser = new ParseProcess(this.#options.heapMb, {
      onIdle: (one) => this.#afterAnswer(one),
      onCrash: (one, left) => this.#afterExit(one, left),
    });
    this.#processes.add(parser);
    return parser;
  }

  #afterAnswer(parser: ParseProcess): void {
    if (parser.isWorn && parser.load === 0) {
      this.#processes.delete(parser);
      void parser.terminate();
    }
    this.#dispatch();
    const isQuiet = this.#queue.length === 0 && [...this.#processes].every(({ load }) => load === 0);
    if (isQuiet) this.#quiet = setTimeout(() => this.#rest(), QUIET_MS).unref();
  }

  #rest(): void {
    for (const parser of this.#processes) {
      this.#processes.delete(parser);
      void parser.terminate();
    }
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#options.onRest?.(bytes);
  }

  /** Which of its jobs ended the process is certain only when it has no other: from then on each has one at a time. */
  #afterExit(parser: ParseProcess, left: readonly PendingJob[]): void {
    this.#processes.delete(parser);
    if (this.#isClosed || !parser.isReady) {
      for (const { reject } of left) reject(this.#isClosed ? indexClosed() : unstartable(parser.failure));
      this.#dispatch();
      return;
    }
    const [culprit] = left;
    if (culprit === undefined) return;
    this.#depth = 1;
    if (left.length === 1) culprit.crashes += 1;
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
  return new ToolError('E_INTERNAL', 'A parse process could not start', {
    details: { reason: 'worker_start', next: 'Check that the grammars and languages of the package are installed' },
    cause,
  });
}
