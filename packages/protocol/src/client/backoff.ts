/**
 * How a client reconnects: options, and waiting times that double up to a limit. The upper half of each is random, so
 * that many clients do not come at once.
 */
import type { ToolError } from '../primitives/errors.ts';

export interface BackoffOptions {
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  /** From 0 up to, not including, 1. */
  random?(): number;
}

/** How a connection comes back, and what happens when its session does not. */
export interface NewSession {
  /** Left out: the session with which the host greets the next connection. */
  readonly session_id?: string;
}

export interface ReconnectOptions extends BackoffOptions {
  /** The session to use; without it, the one the first connection is greeted with. */
  readonly sessionId?: string;
  /** Failed attempts in a row after which the host counts as gone. */
  readonly attempts?: number;
  /** How long opening a connection may take. */
  readonly openTimeoutMs?: number;
  /** How long a heartbeat may go unanswered before the connection counts as dead. */
  readonly silenceMs?: number;
  /**
   * Sends what has no answer to the session that takes the place of a lost one, under the same request ids. Only where
   * hosts agree on calls, as in a fleet: anywhere else a call could happen twice.
   */
  readonly repeatSent?: boolean;
  onDrop?(error: ToolError): void;
  /** May open another session in place of the lost one. Calls that were never sent then go to the new one. */
  onSessionLost?(error: ToolError): NewSession | undefined | Promise<NewSession | undefined>;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #step = 0;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  next(): number {
    const { minDelayMs = 100, maxDelayMs = 10_000 } = this.#options;
    const full = Math.min(maxDelayMs, minDelayMs * 2 ** this.#step);
    // Past this the doubled value is only larger; kept small so that it stays a finite number.
    if (this.#step < 30) this.#step += 1;
    const random = this.#options.random?.() ?? Math.random();
    return full / 2 + (full / 2) * random;
  }

  reset(): void {
    this.#step = 0;
  }
}

export type IdleTimer = ReturnType<typeof setTimeout>;

/**
 * Waiting in the client: pauses, timers, and promises that a signal ends.
 *
 * Waits this long, or until the signal is aborted. Never rejects.
 */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** A timer that does not keep a Node process alive: it matters only while something else runs. */
export function idleTimer(callback: () => void, milliseconds: number): IdleTimer {
  const timer = setTimeout(callback, milliseconds);
  // Browsers give a number, which has nothing to switch off.
  (timer as unknown as { unref?: () => void }).unref?.();
  return timer;
}

/** The promise, or a rejection with `reason()` as soon as the signal is aborted. */
export function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  reason: () => unknown,
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reason());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
