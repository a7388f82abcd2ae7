/**
 * The one connection that is in use at a time: when it may be sent to, and how it is dropped.
 *
 * What cannot be sent is no error here. The connection counts as broken then, and the next one asks the host what
 * became of the message.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import { closeQuietly } from './close-quietly.ts';
import type { Connection } from './connection.ts';
import { connectionClosed } from './error-messages.ts';
import { type IdleTimer, idleTimer } from './idle-timer.ts';

export class LiveLink {
  readonly #silence: SilenceWatch;
  #connection: Connection | undefined;
  /** `joining`: the host is asked to join the session, and has not acknowledged. */
  #phase: 'idle' | 'joining' | 'live' = 'idle';

  constructor(silenceMs: number) {
    this.#silence = new SilenceWatch(silenceMs, () => this.drop());
  }

  get isLive(): boolean {
    return this.#phase === 'live';
  }

  get isJoining(): boolean {
    return this.#phase === 'joining';
  }

  join(connection: Connection): void {
    this.#connection = connection;
    this.#phase = 'joining';
    this.#silence.expect();
  }

  goLive(connection: Connection | undefined = this.#connection): void {
    this.#connection = connection;
    this.#phase = 'live';
  }

  heard(): void {
    this.#silence.heard();
  }

  /** Does nothing without a live connection. Never rejects. */
  async send(message: ClientMessage): Promise<void> {
    if (!this.isLive) return;
    if (message.type === 'Heartbeat') this.#silence.expect();
    await this.#use((connection) => connection.send(message));
  }

  /** Rejects when it cannot be sent. */
  async sendOrThrow(message: ClientMessage): Promise<void> {
    if (!this.isLive) throw connectionClosed();
    await this.#connection?.send(message);
  }

  /** Never rejects: the next connection asks for the events when it resumes the session. */
  async wantEvents(sessionId: string): Promise<void> {
    if (this.isLive) await this.#use((connection) => connection.wantEvents?.(sessionId));
  }

  /** Its end ends the loop that reads from it. */
  drop(how: 'for good' | 'to return' = 'to return'): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#phase = 'idle';
    this.#silence.heard();
    return closeQuietly(connection, how);
  }

  async #use(action: (connection: Connection) => void | Promise<void>): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      await action(connection);
    } catch {
      // May stop here: see the top of the file. Another connection may have taken its place meanwhile.
      if (this.#connection === connection) await this.drop();
    }
  }
}

/** Notices a connection that is open and dead: a heartbeat went out, and nothing at all has come back for a while. */
class SilenceWatch {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #timer: IdleTimer | undefined;

  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  expect(): void {
    // A longer wait than a timer can hold would fire at once.
    if (this.#timer === undefined && this.#limitMs < 2 ** 31) this.#timer = idleTimer(this.#onSilence, this.#limitMs);
  }

  heard(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
