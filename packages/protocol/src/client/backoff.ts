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
