/** One worker thread with its jobs in flight, first in, first out. */
import { Worker } from 'node:worker_threads';
import { inPackage } from '../../contracts/package-folder.ts';
import { type ParseJob, type ParseOutcome, READY } from './parse-outcome.ts';

export interface PendingJob {
  readonly job: ParseJob;
  /** How often a thread died on it. */
  crashes: number;
  resolve(outcome: ParseOutcome): void;
  reject(reason: unknown): void;
}

export interface ThreadEvents {
  onIdle(thread: ParseThread): void;
  /** The thread is gone; the first of `left` was being parsed. */
  onCrash(thread: ParseThread, left: readonly PendingJob[]): void;
}

/** Sources run as they are in development, bundled when installed. */
const IS_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = inPackage(IS_SOURCE ? 'src/index/worker/parse-worker.ts' : 'dist/index/worker/parse-worker.js');
/** Not those of the process: some of them (`--input-type`, `--test`) would keep the thread from starting. */
const NODE_OPTIONS = IS_SOURCE ? ['--conditions=tool-runtime-source'] : [];
/** The memory of a parser never shrinks, so a thread is replaced after a large file, and after very many. */
const LARGE_FILE_BYTES = 1024 * 1024;
const RETIRE_BYTES = 256 * 1024 * 1024;
/** The data of a file is small and goes away with it; the usual size takes 30 MB more a thread and saves no time. */
const YOUNG_MB = 8;
/** The parser gives up by itself after five seconds; a thread that needs longer hangs. */
const HANG_MS = 30_000;

export class ParseThread {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  readonly #jobs: PendingJob[] = [];
  #bytes = 0;
  #watch: NodeJS.Timeout | undefined;
  isWorn = false;
  /** A thread that ends before it stood was ended by no file. */
  isReady = false;
  failure: unknown;

  constructor(heapMb: number, events: ThreadEvents) {
    this.#events = events;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(ENTRY, { resourceLimits, execArgv: NODE_OPTIONS });
    this.#worker.unref();
    this.#worker.on('message', (message: ParseOutcome | typeof READY) => {
      if (message === READY) this.isReady = true;
      else this.#finish(message);
    });
    // Without a listener the error would end the process; `exit` follows in every case.
    this.#worker.on('error', (thrown) => {
      this.failure = thrown;
    });
    this.#worker.on('exit', () => this.#end());
  }

  get load(): number {
    return this.#jobs.length;
  }

  send(pending: PendingJob): void {
    const { job } = pending;
    if (this.#jobs.length === 0) this.#worker.ref();
    this.#jobs.push(pending);
    this.#bytes += job.bytes.byteLength;
    this.isWorn ||= this.#bytes > RETIRE_BYTES || job.bytes.byteLength > LARGE_FILE_BYTES;
    // Copied, because small buffers share memory, and because a job may have to be given to another thread.
    const bytes = new Uint8Array(job.bytes);
    this.#worker.postMessage({ ...job, bytes }, [bytes.buffer]);
    this.#watch ??= this.#watchdog();
  }

  async terminate(): Promise<void> {
    clearTimeout(this.#watch);
    await this.#worker.terminate();
  }

  #finish(outcome: ParseOutcome): void {
    clearTimeout(this.#watch);
    const done = this.#jobs.shift();
    this.#watch = this.#jobs.length === 0 ? undefined : this.#watchdog();
    if (this.#jobs.length === 0) this.#worker.unref();
    done?.resolve(outcome);
    this.#events.onIdle(this);
  }

  #watchdog(): NodeJS.Timeout {
    return setTimeout(() => void this.#worker.terminate(), HANG_MS).unref();
  }

  #end(): void {
    clearTimeout(this.#watch);
    this.#events.onCrash(this, this.#jobs.splice(0));
  }
}
