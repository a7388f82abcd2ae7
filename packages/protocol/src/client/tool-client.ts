/**
 * Typed client over any Connection: waits for the session, sends calls, brings answers back to their callers.
 *
 * A ToolResponse resolves its call even when `ok` is false: the tool was reached and said no. Rejections are for
 * calls that got no such answer. Aborting asks the host to stop and still waits for the terminal message, because
 * only that says whether the tool had already acted.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { BatchRequest } from '../envelopes/from-client/batch-request.ts';
import type { ToolRequest } from '../envelopes/from-client/tool-request.ts';
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { isToolError, type JsonObject, ToolError, toToolError } from '../primitives/errors.ts';
import { pause, unlessAborted } from './backoff.ts';
import type { Connection } from './connection.ts';
import {
  cancelledBeforeSending,
  connectionClosed,
  fromErrorMessage,
  outcomeUnknown,
  sessionRefused,
  toErrorMessage,
} from './error-messages.ts';
import { EventListeners, type EventsOptions } from './event-listeners.ts';
import { Heartbeats } from './heartbeats.ts';
import { PendingCalls } from './pending-calls.ts';
import { retryCall } from './retry-call.ts';
import type {
  ClientBatchCall,
  ClientBatchOptions,
  ClientCallOptions,
  LooseTools,
  ToolClient,
  ToolClientOptions,
  ToolMap,
} from './tool-client-interface.ts';

export function createToolClient<Tools extends ToolMap<Tools> = LooseTools>(
  connection: Connection,
  options: ToolClientOptions = {},
): ToolClient<Tools> {
  // The map exists for the compiler only; at run time every tool is a name and a JSON object.
  return new ConnectedClient(connection, options) as ToolClient<LooseTools> as unknown as ToolClient<Tools>;
}

type RequestBase = Pick<ToolRequest, 'request_id' | 'session_id' | 'timestamp'>;

class ConnectedClient implements ToolClient {
  readonly #connection: Connection;
  readonly #options: ToolClientOptions;
  readonly #pending = new PendingCalls();
  readonly #listeners = new EventListeners();
  readonly #heartbeats: Heartbeats | undefined;
  readonly #acknowledged = Promise.withResolvers<SessionAck>();
  #sessionId: string | undefined;
  #failure: ToolError | undefined;

  constructor(connection: Connection, options: ToolClientOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#sessionId = options.sessionId;
    // A caller of ready() sees the rejection; a client that never does must not crash its process with it.
    this.#acknowledged.promise.catch(() => undefined);
    this.#heartbeats = options.heartbeatMs === undefined ? undefined : this.#startHeartbeats(options.heartbeatMs);
    void this.#receiveAll();
  }

  ready(): Promise<SessionAck> {
    return this.#acknowledged.promise;
  }

  async call(tool: string, args: JsonObject, options: ClientCallOptions = {}): Promise<ToolResponse> {
    const { retry, signal } = options;
    if (retry === undefined) return this.#callOnce(tool, args, options);
    const keyed = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    return retryCall(retry.attempts, () => this.#callOnce(tool, args, keyed), {
      signal,
      isOver: () => this.#failure !== undefined,
    });
  }

  async batch(
    calls: readonly ClientBatchCall[],
    options: ClientBatchOptions = {},
  ): Promise<readonly (ToolResponse | ErrorMessage)[]> {
    const { strategy, atomic } = options;
    const items = calls.map(({ tool, args, ...more }) => ({ tool, args, request_id: this.#newId(), ...carried(more) }));
    const ids = items.map(({ request_id }) => request_id);
    const { responses } = await this.#ask<BatchResponse>(options, ids, (base) => ({
      type: 'BatchRequest',
      ...base,
      ...(strategy === undefined ? {} : { strategy }),
      ...(atomic === undefined ? {} : { atomic }),
      calls: items,
    }));
    const byId = new Map(responses.map((response) => [response.request_id, response]));
    return ids.map((id) => byId.get(id) ?? toErrorMessage(outcomeUnknown('answer_missing'), id));
  }

  events(options: EventsOptions = {}): AsyncIterableIterator<EventMessage> {
    return this.#listeners.add(options, {
      session: () => this.#sessionForEvents(),
      send: (session_id, wish) => this.#send({ type: 'SessionAttach', session_id, ...wish }),
    });
  }

  async #callOnce(tool: string, args: JsonObject, options: ClientCallOptions): Promise<ToolResponse> {
    return this.#ask<ToolResponse>(options, [], (base) => ({
      type: 'ToolRequest',
      ...base,
      ...carried(options),
      tool,
      args,
    }));
  }

  /** `members`: further ids whose events belong to the request. */
  async #ask<Answer extends ToolResponse | BatchResponse>(
    options: Pick<ClientCallOptions, 'signal' | 'onEvent'>,
    members: readonly string[],
    write: (base: RequestBase) => ToolRequest | BatchRequest,
  ): Promise<Answer> {
    const { signal } = options;
    if (signal?.aborted) throw cancelledBeforeSending();
    const sessionId = await this.#session(signal);
    if (options.onEvent !== undefined && this.#connection.wantEvents !== undefined) await this.#askForEvents(sessionId);
    const request = write({ request_id: this.#newId(), session_id: sessionId, timestamp: this.#timestamp() });
    const { promise, resolve, reject } = Promise.withResolvers<ToolResponse | BatchResponse>();
    const onEvent = options.onEvent?.bind(options);
    this.#pending.add(request.request_id, { onEvent, resolve, reject });
    for (const id of members) this.#pending.add(id, { onEvent, resolve() {}, reject() {} });
    const cancel = () => void this.#send(this.#cancelRequest(request)).catch((thrown) => this.#report(thrown));
    signal?.addEventListener('abort', cancel, { once: true });
    void this.#deliver(request, request.request_id);
    try {
      return (await promise) as Answer;
    } finally {
      signal?.removeEventListener('abort', cancel);
      for (const id of members) this.#pending.take(id);
    }
  }

  async heartbeat(): Promise<void> {
    const session_id = await this.#session(undefined);
    await this.#send({ type: 'Heartbeat', session_id, timestamp: this.#timestamp() });
  }

  async close(): Promise<void> {
    this.#listeners.end();
    this.#fail(connectionClosed());
    await this.#connection.close();
  }

  /** The session id once there is one. Throws what ended the connection, or E_INTERNAL when aborted meanwhile. */
  async #session(signal: AbortSignal | undefined): Promise<string> {
    const sessionId = this.#sessionId ?? (await unlessAborted(this.ready(), signal, cancelledBeforeSending)).session_id;
    if (this.#failure !== undefined) throw this.#failure;
    if (signal?.aborted) throw cancelledBeforeSending();
    return sessionId;
  }

  /** The host's greeting must have been read by then, or it would be taken for the answer to joining. */
  async #sessionForEvents(): Promise<string> {
    if (this.#connection.greets === false) await pause(0);
    else await this.ready();
    return this.#session(undefined);
  }

  async #askForEvents(sessionId: string): Promise<void> {
    try {
      await this.#connection.wantEvents?.(sessionId);
    } catch (thrown) {
      // A call is worth more than the news about it.
      this.#report(thrown);
    }
  }

  #startHeartbeats(everyMs: number): Heartbeats {
    return new Heartbeats(everyMs, () => {
      if (this.#sessionId === undefined) return;
      this.heartbeat().catch((thrown) => this.#report(thrown));
    });
  }

  #newId(): string {
    const requestId = this.#options.newId?.() ?? crypto.randomUUID();
    if (this.#pending.has(requestId)) throw new TypeError('newId gave the id of a call that is still open');
    return requestId;
  }

  #cancelRequest({ request_id, session_id }: ToolRequest | BatchRequest): ClientMessage {
    return { type: 'CancelRequest', request_id, session_id, timestamp: this.#timestamp() };
  }

  #timestamp(): number {
    return Math.floor((this.#options.now?.() ?? Date.now()) / 1000);
  }

  async #send(message: ClientMessage): Promise<void> {
    try {
      await this.#connection.send(message);
    } catch (thrown) {
      if (isToolError(thrown)) throw thrown;
      throw new ToolError('E_INTERNAL', `Message could not be sent: ${message.type}`, {
        details: { reason: 'send_failed' },
        cause: thrown,
      });
    }
  }

  /** Sends on behalf of a call: a failure to send ends that call. */
  async #deliver(message: ClientMessage, requestId: string): Promise<void> {
    await this.#send(message).catch((thrown: unknown) => this.#pending.take(requestId)?.reject(toToolError(thrown)));
  }

  async #receiveAll(): Promise<void> {
    try {
      for await (const message of this.#connection.messages()) this.#receive(message);
      this.#fail(connectionClosed());
    } catch (thrown) {
      // May stop here: the cause travels with the rejection of every open call.
      this.#fail(isToolError(thrown) ? thrown : connectionClosed(thrown));
    }
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'SessionAck':
        this.#acknowledge(message);
        break;
      case 'EventMessage':
        this.#announce(message);
        break;
      case 'ToolResponse':
      case 'BatchResponse':
        this.#pending.take(message.request_id)?.resolve(message);
        break;
      case 'ErrorMessage':
        this.#refuse(message);
        break;
      case 'Heartbeat':
      case 'ChildAck':
      case 'ChildEnded':
        break;
    }
  }

  #acknowledge(ack: SessionAck): void {
    if (!ack.accepted) {
      this.#fail(sessionRefused());
    } else if (this.#sessionId === undefined || this.#sessionId === ack.session_id) {
      this.#sessionId = ack.session_id;
      this.#acknowledged.resolve(ack);
      this.#listeners.joined();
    } else if (this.#connection.changesSession === true) {
      this.#sessionId = ack.session_id;
      this.#listeners.restart();
      this.#listeners.joined();
    } else {
      this.#fail(sessionRefused('Host acknowledged a different session', 'session_mismatch'));
    }
  }

  #announce(event: EventMessage): void {
    try {
      this.#pending.announce(event);
    } catch (thrown) {
      // A listener's mistake must not end the connection for every other call.
      this.#report(thrown);
    }
    this.#listeners.push(event);
  }

  #refuse(message: ErrorMessage): void {
    const { request_id } = message;
    const error = fromErrorMessage(message);
    if (request_id !== null) this.#pending.take(request_id)?.reject(error);
    // Before there is a session this can only be the answer to opening it.
    else if (this.#sessionId === undefined) this.#fail(error);
    else this.#options.onError?.(error);
  }

  #report(thrown: unknown): void {
    this.#options.onError?.(toToolError(thrown));
  }

  /** Ends the client. Only the first reason counts. */
  #fail(error: ToolError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#acknowledged.reject(error);
    this.#pending.rejectAll(error);
    this.#listeners.end(error);
    this.#heartbeats?.stop();
  }
}

function carried({
  idempotencyKey,
  txId,
  timeoutMs,
}: Pick<ClientCallOptions, 'idempotencyKey' | 'txId' | 'timeoutMs'>): Pick<
  ToolRequest,
  'idempotency_key' | 'tx_id' | 'timeout_ms'
> {
  return {
    ...(txId === undefined ? {} : { tx_id: txId }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
}
