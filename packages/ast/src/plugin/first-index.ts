/**
 * The first index of a workspace: made once for all calls that wait for it. A call that answers with what is there so far
 * leaves it running; when every call that waits is cancelled, it ends too.
 */
import type { CodeIndex, GenerateOptions, GenerateReport } from '../contracts/code-index-contract.ts';

export interface FirstIndexWait {
  readonly signal: AbortSignal;
  /** Milliseconds; undefined: until it is done. */
  readonly patienceMs: number | undefined;
  onProgress(done: number, total: number): void;
}

/** Undefined as report: still running. */
export interface FirstIndexState {
  readonly report: GenerateReport | undefined;
  readonly done: number;
  readonly total: number;
}

interface Running {
  readonly work: Promise<GenerateReport>;
  readonly stop: AbortController;
  readonly waiting: Set<FirstIndexWait>;
  done: number;
  total: number;
  isDetached: boolean;
}

export class FirstIndex {
  #running: Running | undefined;

  /** Throws the reason of the wait's signal. */
  async wait(index: CodeIndex, options: GenerateOptions, wait: FirstIndexWait): Promise<FirstIndexState> {
    wait.signal.throwIfAborted();
    const running = this.#running ?? this.#start(index, options);
    running.waiting.add(wait);
    if (running.total > 0) wait.onProgress(running.done, running.total);
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const onAbort = () => reject(wait.signal.reason);
    wait.signal.addEventListener('abort', onAbort, { once: true });
    const timer = wait.patienceMs === undefined ? undefined : setTimeout(() => resolve(undefined), wait.patienceMs);
    try {
      const report = await Promise.race([running.work, promise]);
      running.isDetached ||= report === undefined;
      return { report, done: running.done, total: running.total };
    } finally {
      clearTimeout(timer);
      wait.signal.removeEventListener('abort', onAbort);
      running.waiting.delete(wait);
      if (running.waiting.size === 0 && !running.isDetached) running.stop.abort(wait.signal.reason);
    }
  }

  async close(): Promise<void> {
    const running = this.#running;
    running?.stop.abort();
    await running?.work.catch(() => undefined);
  }

  #start(index: CodeIndex, options: GenerateOptions): Running {
    const stop = new AbortController();
    const waiting = new Set<FirstIndexWait>();
    const onProgress = (done: number, total: number) => {
      Object.assign(running, { done, total });
      for (const one of waiting) one.onProgress(done, total);
    };
    const work = index.generate({ ...options, signal: stop.signal, onProgress });
    const running: Running = { work, stop, waiting, done: 0, total: 0, isDetached: false };
    this.#running = running;
    const forget = () => {
      this.#running = undefined;
    };
    // Who waits gets the error; a call that left, left a statement of what is missing.
    work.then(forget, forget);
    return running;
  }
}
