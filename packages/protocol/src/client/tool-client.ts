/**
 * Typed client over any Connection: waits for the session, sends calls, brings answers back to their callers.
 *
 * A ToolResponse resolves its call even when `ok` is false: the tool was reached and said no. Rejections are for
 * calls that got no such answer. Aborting asks the host to stop and still waits for the terminal message, because
 * only that says whether the tool had already acted.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { ErrorMessage } from '../envelopes/error-message.ts';
import type { EventMessage } from '../envelopes/event-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import type { SessionAck } from '../envelopes/session-ack.ts';
import type { ToolRequest } from '../envelopes/tool-request.ts';
import type { ToolResponse } from '../envelopes/tool-response.ts';
import { type JsonObject, ToolError, toToolError } from '../errors.ts';
import type { Connection } from './connection.ts';
import { PendingCalls } from './pending-calls.ts';
import type { LooseTools, ToolMap, ToolResponseWith } from './tool-map.ts';

export interface ToolClientOptions {
  /** A session opened by other means: calls do not wait for a SessionAck. */
  readonly sessionId?: string;
  /** Milliseconds since the epoch, as `Date.now` gives them. */
  now?(): number;
  newId?(): string;
  /** Failures that belong to no call: an ErrorMessage without a request id, a throwing `onEvent`. */
  onError?(error: ToolError): void;
}

export interface ClientCallOptions {
  readonly signal?: AbortSignal;
  onEvent?(event: EventMessage): void;
  readonly idempotencyKey?: string;
  readonly timeoutMs?: number;
}

export interface ToolClient<Tools extends ToolMap<Tools> = LooseTools> {
  /** The host's SessionAck. Rejects with E_POLICY when the session is refused. */
  ready(): Promise<SessionAck>;
  call<Name extends keyof Tools & string>(
    tool: Name,
    args: Tools[Name]['args'],
    options?: ClientCallOptions,
  ): Promise<ToolResponseWith<Tools[Name]['data']>>;
  heartbeat(): Promise<void>;
  /** Rejects every open call with E_INTERNAL, `details.reason` = `connection_closed`. */
  close(): Promise<void>;
}

export function createToolClient<Tools extends ToolMap<Tools> = LooseTools>(
  connection: Connection,
  options: ToolClientOptions = {},
): ToolClient<Tools> {
  // The map exists for the compiler only; at run time every tool is a name and a JSON object.
  return new ConnectedClient(connection, options) as ToolClient<LooseTools> as ToolClient<Tools>;
}

class ConnectedClient implements ToolClient {
  readonly #connection: Connection;
  readonly #options: ToolClientOptions;
  readonly #pending = new PendingCalls();
  readonly #acknowledged = Promise.withResolvers<SessionAck>();
  #sessionId: string | undefined;
  #failure: ToolError | undefined;

  constructor(connection: Connection, options: ToolClientOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#sessionId = options.sessionId;
    // Whoever calls ready() sees the rejection; a client that never does must not crash its process with it.
    this.#acknowledged.promise.catch(() => undefined);
    void this.#receiveAll();
  }

  ready(): Promise<SessionAck> {
    return this.#acknowledged.promise;
  }

  async call(tool: string, args: JsonObject, options: ClientCallOptions = {}): Promise<ToolResponse> {
    const { signal } = options;
    if (signal?.aborted) throw cancelled();
    const sessionId = await this.#session(signal);
    const request = this.#request(sessionId, { tool, args }, options);
    const { promise, resolve, reject } = Promise.withResolvers<ToolResponse>();
    this.#pending.add(request.request_id, { onEvent: options.onEvent?.bind(options), resolve, reject });
    const cancel = () => void this.#deliver(this.#cancelRequest(request), request.request_id);
    signal?.addEventListener('abort', cancel, { once: true });
    void this.#deliver(request, request.request_id);
    return promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  async heartbeat(): Promise<void> {
    const session_id = await this.#session(undefined);
    await this.#send({ type: 'Heartbeat', session_id, timestamp: this.#timestamp() });
  }

  async close(): Promise<void> {
    this.#fail(connectionClosed(undefined));
    await this.#connection.close();
  }

  /** The session id once there is one. Throws what ended the connection, or E_INTERNAL when aborted meanwhile. */
  async #session(signal: AbortSignal | undefined): Promise<string> {
    const sessionId = this.#sessionId ?? (await unlessAborted(this.ready(), signal)).session_id;
    if (this.#failure !== undefined) throw this.#failure;
    if (signal?.aborted) throw cancelled();
    return sessionId;
  }

  #request(sessionId: string, call: Pick<ToolRequest, 'tool' | 'args'>, options: ClientCallOptions): ToolRequest {
    const requestId = this.#options.newId?.() ?? crypto.randomUUID();
    if (this.#pending.has(requestId)) throw new TypeError('newId gave the id of a call that is still open');
    return {
      type: 'ToolRequest',
      request_id: requestId,
      session_id: sessionId,
      timestamp: this.#timestamp(),
      ...(options.idempotencyKey === undefined ? {} : { idempotency_key: options.idempotencyKey }),
      ...(options.timeoutMs === undefined ? {} : { timeout_ms: options.timeoutMs }),
      ...call,
    };
  }

  #cancelRequest({ request_id, session_id }: ToolRequest): ClientMessage {
    return { type: 'CancelRequest', request_id, session_id, timestamp: this.#timestamp() };
  }

  #timestamp(): number {
    return (this.#options.now?.() ?? Date.now()) / 1000;
  }

  async #send(message: ClientMessage): Promise<void> {
    try {
      await this.#connection.send(message);
    } catch (thrown) {
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
      this.#fail(connectionClosed(undefined));
    } catch (thrown) {
      // May stop here: the cause travels with the rejection of every open call.
      this.#fail(connectionClosed(thrown));
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
        this.#pending.take(message.request_id)?.resolve(message);
        break;
      case 'ErrorMessage':
        this.#refuse(message);
        break;
      case 'Heartbeat':
        break;
    }
  }

  #acknowledge(ack: SessionAck): void {
    if (!ack.accepted) {
      this.#fail(sessionRefused('Session was refused by the host', 'session_refused'));
    } else if (this.#sessionId !== undefined && this.#sessionId !== ack.session_id) {
      this.#fail(sessionRefused('Host acknowledged a different session', 'session_mismatch'));
    } else {
      this.#sessionId = ack.session_id;
      this.#acknowledged.resolve(ack);
    }
  }

  #announce(event: EventMessage): void {
    try {
      this.#pending.get(event.request_id)?.onEvent?.(event);
    } catch (thrown) {
      // A listener's mistake must not end the connection for every other call.
      this.#options.onError?.(toToolError(thrown));
    }
  }

  #refuse({ code, message, request_id, details }: ErrorMessage): void {
    const error = new ToolError(code, message, details === undefined ? {} : { details });
    if (request_id !== null) this.#pending.take(request_id)?.reject(error);
    // Before there is a session this can only be the answer to opening it.
    else if (this.#sessionId === undefined) this.#fail(error);
    else this.#options.onError?.(error);
  }

  /** Ends the client. Only the first reason counts. */
  #fail(error: ToolError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#acknowledged.reject(error);
    this.#pending.rejectAll(error);
  }
}

function connectionClosed(cause: unknown): ToolError {
  return new ToolError('E_INTERNAL', 'Connection is closed', { details: { reason: 'connection_closed' }, cause });
}

function cancelled(): ToolError {
  return new ToolError('E_INTERNAL', 'Call was cancelled before it was sent', { details: { reason: 'cancelled' } });
}

function sessionRefused(message: string, reason: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { reason } });
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(cancelled());
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
