/**
 * The one connection that is in use at a time: when it may be sent to, and how it is dropped.
 *
 * A message that cannot be sent is not an error here: the connection counts as broken, and the next one asks the host
 * about the message.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { ToolError } from '../primitives/errors.ts';
import { type IdleTimer, idleTimer, unlessAborted } from './backoff.ts';
import { type Connect, type Connection, closeQuietly } from './connection.ts';
import { connectionClosed, fromErrorMessage } from './error-messages.ts';

interface OpenedConnection {
  readonly connection: Connection;
  /** What comes after the greeting. */
  readonly messages: AsyncIterator<ServerMessage>;
  /** Undefined on connections that have none. */
  readonly greeting: SessionAck | undefined;
}

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

/** Opens one connection and reads the host's greeting, both within a time limit. */
export async function openConnection(
  connect: Connect,
  closing: AbortSignal,
  timeoutMs: number,
): Promise<OpenedConnection> {
  const tooSlow = new AbortController();
  const timer = setTimeout(() => tooSlow.abort(), timeoutMs);
  const signal = AbortSignal.any([closing, tooSlow.signal]);
  const opening = (async () => connect(signal))();
  let connection: Connection | undefined;
  try {
    connection = await unlessAborted(opening, signal, notOpened);
    const messages = connection.messages()[Symbol.asyncIterator]();
    const greeting = connection.greets === false ? undefined : await unlessAborted(greet(messages), signal, notOpened);
    return { connection, messages, greeting };
  } catch (thrown) {
    // Also one that comes too late must not stay open.
    opening.then((late) => late.close()).catch(() => undefined);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

async function greet(messages: AsyncIterator<ServerMessage>): Promise<SessionAck> {
  const step = await messages.next();
  if (step.done === true) throw connectionClosed();
  if (step.value.type === 'SessionAck') return step.value;
  throw step.value.type === 'ErrorMessage' ? fromErrorMessage(step.value) : noGreeting(step.value.type);
}

function notOpened(): ToolError {
  return new ToolError('E_INTERNAL', 'Connection could not be opened in time', {
    details: { reason: 'connection_closed' },
  });
}

function noGreeting(type: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Host did not begin with a SessionAck: ${type}`, {
    details: { reason: 'no_greeting' },
  });
}
