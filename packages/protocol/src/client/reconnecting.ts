/**
 * A connection that comes back. Every drop is followed by a new connection that resumes the session: events after the
 * last one seen, and the answers of all requests that went out. Callers notice nothing but the delay.
 *
 * A request is sent again only when the host says that it never came, or when its answer is lost and it carries an
 * idempotency key. Everything else without an answer is reported as `outcome_unknown`, never repeated.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { isToolError, type ToolError, toToolError } from '../primitives/errors.ts';
import { Backoff, type IdleTimer, idleTimer, type NewSession, pause, type ReconnectOptions } from './backoff.ts';
import { ChildQuestions } from './child-questions.ts';
import { type Connect, type Connection, closeQuietly } from './connection.ts';
import {
  connectionClosed,
  fromErrorMessage,
  isFinal,
  isSessionGone,
  reasonOf,
  sessionRefused,
} from './error-messages.ts';
import { LiveLink, openConnection } from './live-link.ts';
import { MessageQueue } from './message-queue.ts';
import { RequestLedger } from './request-ledger.ts';
import { SessionJoins } from './session-joins.ts';

export function reconnecting(connect: Connect, options: ReconnectOptions = {}): Connection {
  return new ReconnectingConnection(connect, options);
}

/** A connection that lived so long was a good one: the next drop is not counted with the last. */
const STEADY_MS = 10_000;

class ReconnectingConnection implements Connection {
  readonly greets: boolean;
  readonly changesSession: boolean;
  readonly #connect: Connect;
  readonly #options: ReconnectOptions;
  readonly #messages = new MessageQueue<ServerMessage>();
  readonly #ledger = new RequestLedger();
  readonly #joins = new SessionJoins();
  readonly #children = new ChildQuestions();
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  readonly #link: LiveLink;
  readonly #lostSessions = new Set<string>();
  #sessionId: string | undefined;
  #failures = 0;

  constructor(connect: Connect, options: ReconnectOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#sessionId = options.sessionId;
    this.#backoff = new Backoff(options);
    this.#link = new LiveLink(options.silenceMs ?? 30_000);
    this.greets = options.sessionId === undefined;
    this.changesSession = options.onSessionLost !== undefined;
    this.#run().catch((thrown: unknown) => this.#giveUp(toToolError(thrown)));
  }

  messages(): AsyncIterable<ServerMessage> {
    return this.#messages;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#messages.end();
    await this.#link.drop('for good');
  }

  async send(message: ClientMessage): Promise<void> {
    if (this.#messages.isEnded) throw connectionClosed();
    switch (message.type) {
      case 'ToolRequest':
      case 'BatchRequest':
        this.#ledger.add(message);
        return this.#transmit(message);
      case 'CancelRequest': {
        const action = this.#ledger.cancel(message);
        if (action === 'send') return this.#transmit(message);
        if (action !== undefined) this.#messages.push(action);
        return;
      }
      case 'Heartbeat':
        return this.#transmit(message);
      case 'SessionAttach':
        this.#joins.want(message);
        return this.#sendDue();
      case 'ApprovalAnswer':
        // Not kept for later: the caller must know whether the answer was sent.
        return this.#link.sendOrThrow(message);
      case 'ChildOpen':
      case 'ChildEnd':
        return this.#children.ask(message, () => this.#link.sendOrThrow(message));
    }
  }

  async wantEvents(sessionId: string): Promise<void> {
    this.#joins.wantsProgress = true;
    await this.#link.wantEvents(sessionId);
  }

  async #run(): Promise<void> {
    const { attempts = 12 } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const failure = await this.#serveOnce();
      if (signal.aborted) return;
      this.#options.onDrop?.(failure);
      this.#failures += 1;
      const canGoOn = isFinal(failure) ? await this.#renew(failure) : this.#failures < attempts;
      if (!canGoOn) return this.#giveUp(failure);
      await pause(this.#backoff.next(), signal);
    }
  }

  /** One connection from its opening to its end. Resolves with why it ended. */
  async #serveOnce(): Promise<ToolError> {
    let connection: Connection | undefined;
    let steady: IdleTimer | undefined;
    try {
      const opened = await openConnection(this.#connect, this.#closing.signal, this.#options.openTimeoutMs ?? 10_000);
      connection = opened.connection;
      await this.#resume(connection, opened.greeting);
      steady = idleTimer(() => this.#backoff.reset(), STEADY_MS);
      for await (const message of { [Symbol.asyncIterator]: () => opened.messages }) this.#receive(message);
      return connectionClosed();
    } catch (thrown) {
      return isToolError(thrown) ? thrown : connectionClosed(thrown);
    } finally {
      clearTimeout(steady);
      this.#leaveChildren();
      await this.#link.drop();
      await closeQuietly(connection, 'to return');
    }
  }

  #leaveChildren(): void {
    const isOf = (sessionId: string): boolean => this.#children.isChild(sessionId);
    const lost = [...this.#children.abandon(), ...this.#ledger.abandonSent('connection_lost', isOf)];
    for (const message of lost) this.#messages.push(message);
  }

  async #resume(connection: Connection, greeting: SessionAck | undefined): Promise<void> {
    this.#sessionId ??= greeting?.session_id;
    const sessionId = this.#sessionId;
    if (sessionId === undefined) throw sessionRefused('Host gave no session, and none was named', 'no_session');
    const isGreeted = greeting?.session_id === sessionId;
    if (isGreeted && greeting?.accepted === false) throw sessionRefused();
    const attaches = this.#joins.begin(connection, { sessionId, pending: this.#ledger.pendingIds(), isGreeted });
    if (attaches.length > 0) {
      // Nothing else goes out before the host has acknowledged: calls to a session that is gone would count as sent.
      this.#link.join(connection);
      for (const attach of attaches) await connection.send(attach);
    } else {
      if (greeting !== undefined) this.#messages.push(greeting);
      this.#goLive(connection);
    }
  }

  #goLive(connection?: Connection): void {
    this.#link.goLive(connection);
    this.#failures = 0;
    for (const message of this.#ledger.unsent()) void this.#transmit(message);
    for (const message of this.#ledger.cancels()) void this.#transmit(message);
    void this.#sendDue();
  }

  async #sendDue(): Promise<void> {
    if (!this.#link.isLive || this.#sessionId === undefined) return;
    const attach = this.#joins.takeDue(this.#sessionId);
    if (attach !== undefined) await this.#transmit(attach);
  }

  async #transmit(message: ClientMessage): Promise<void> {
    if (!this.#link.isLive) return;
    if (message.type === 'ToolRequest' || message.type === 'BatchRequest') this.#ledger.markSent(message.request_id);
    await this.#link.send(this.#addressed(message));
  }

  /** Made before its session was lost, and not sent until now: meant for the session that took its place. */
  #addressed(message: ClientMessage): ClientMessage {
    if (message.type === 'ApprovalAnswer' || this.#sessionId === undefined) return message;
    return this.#lostSessions.has(message.session_id) ? { ...message, session_id: this.#sessionId } : message;
  }

  /** Throws what ends the session. */
  #receive(message: ServerMessage): void {
    this.#link.heard();
    if (this.#children.isAnswer(message)) this.#messages.push(message);
    else this.#sort(message);
  }

  #sort(message: ServerMessage): void {
    switch (message.type) {
      case 'SessionAck':
        if (!message.accepted) throw sessionRefused();
        if (this.#joins.acknowledged(message, this.#sessionId)) this.#messages.push(message);
        if (this.#link.isJoining) this.#goLive();
        break;
      case 'ToolResponse':
      case 'BatchResponse':
        this.#answer(message);
        break;
      case 'ErrorMessage':
        if (message.request_id !== null) this.#answer(message);
        else if (this.#link.isJoining || isSessionGone(message.details)) throw fromErrorMessage(message);
        else this.#messages.push(message);
        break;
      case 'EventMessage':
        // Before the host has acknowledged, this one would overtake those that were missed; it comes again in its turn.
        if (!this.#link.isLive) break;
        if (message.id !== undefined) this.#joins.position.saw(message.id);
        this.#messages.push(message);
        break;
      case 'Heartbeat':
        this.#messages.push(message);
        break;
    }
  }

  #answer(message: ToolResponse | BatchResponse | ErrorMessage): void {
    const verdict = this.#ledger.judge(message);
    if (verdict.action === 'repeat') void this.#transmit(verdict.request);
    else if (verdict.action === 'ask' && this.#sessionId !== undefined) {
      void this.#transmit(this.#joins.ask(this.#sessionId, verdict.requestId));
    }
    if (verdict.action !== 'deliver') return;
    const { answer } = verdict;
    this.#messages.push(answer);
    if (answer.type !== 'ErrorMessage' || !isSessionGone(answer.details)) return;
    if (this.#children.isChild(verdict.sessionId)) return;
    // Others that still run get their own answer first; the last refusal tells that the session is gone.
    if (this.#ledger.isEmpty) throw fromErrorMessage(answer);
  }

  /** Another session in place of the lost one, if the program opens one. */
  async #renew(failure: ToolError): Promise<boolean> {
    if (this.#options.repeatSent === true && this.changesSession) {
      const because = reasonOf(failure.details) ?? failure.code;
      for (const message of this.#ledger.recallSent(because)) this.#messages.push(message);
    } else this.#abandonSent(failure);
    const lost = this.#sessionId;
    let next: NewSession | undefined;
    try {
      next = await this.#options.onSessionLost?.(failure);
    } catch (thrown) {
      this.#giveUp(toToolError(thrown));
    }
    if (next === undefined) return false;
    if (lost !== undefined) this.#lostSessions.add(lost);
    this.#sessionId = next.session_id;
    this.#joins.restart();
    return true;
  }

  #abandonSent({ code, details }: ToolError): void {
    for (const message of this.#ledger.abandonSent(reasonOf(details) ?? code)) this.#messages.push(message);
  }

  #giveUp(failure: ToolError): void {
    this.#abandonSent(failure);
    this.#closing.abort();
    this.#messages.end(failure);
  }
}
