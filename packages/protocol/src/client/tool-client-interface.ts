/** What users of the client see: its options, its calls, its events. */
import type { BatchStrategy } from '../envelopes/fields.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { JsonObject, JsonValue, ToolError } from '../primitives/errors.ts';
import type { EventsOptions } from './event-listeners.ts';
import type { RetryOptions } from './retry-call.ts';

/**
 * Types by which a caller tells the client what each tool takes and gives. Erased at run time: the host validates.
 */
export interface ToolSignature {
  readonly args: object;
  readonly data: unknown;
}

/** An interface or type with one ToolSignature per tool name; the mapped form lets plain interfaces qualify. */
export type ToolMap<Tools> = { readonly [Name in keyof Tools]: ToolSignature };

/** Any tool, any JSON: the map of a client that was given none. */
export interface LooseTools {
  readonly [tool: string]: { readonly args: JsonObject; readonly data: JsonValue };
}

export type ToolResponseWith<Data> = Omit<ToolResponse, 'data'> & { readonly data: Data | null };

export interface ToolClientOptions {
  /** A session opened by other means: calls do not wait for a SessionAck. */
  readonly sessionId?: string;
  /** Sends a Heartbeat so often: a third of what the session allows is a good measure. Left out: none by itself. */
  readonly heartbeatMs?: number;
  /** Milliseconds since the epoch, as `Date.now` gives them. */
  now?(): number;
  newId?(): string;
  /** Failures that belong to no call: an ErrorMessage without a request id, a throwing `onEvent`, a lost heartbeat. */
  onError?(error: ToolError): void;
}

export interface ClientCallOptions {
  readonly signal?: AbortSignal;
  onEvent?(event: EventMessage): void;
  readonly idempotencyKey?: string;
  /** The transaction it belongs to; the newest open one of the session by default. */
  readonly txId?: string;
  readonly timeoutMs?: number;
  /** Sends the call again when it failed on the way; it then gets an idempotency key of its own if it has none. */
  readonly retry?: RetryOptions;
}

/** One call of a batch. */
export type ClientBatchCall<Tools extends ToolMap<Tools> = LooseTools> = {
  [Name in keyof Tools & string]: {
    readonly tool: Name;
    readonly args: Tools[Name]['args'];
    readonly idempotencyKey?: string;
    readonly txId?: string;
    readonly timeoutMs?: number;
  };
}[keyof Tools & string];

export interface ClientBatchOptions extends Pick<ClientCallOptions, 'signal' | 'onEvent'> {
  /** One call after the other by default. */
  readonly strategy?: BatchStrategy;
  /** All calls in one transaction, which is committed when all of them succeed and given up otherwise. */
  readonly atomic?: boolean;
}

export interface ToolClient<Tools extends ToolMap<Tools> = LooseTools> {
  /** The host's SessionAck. Rejects with E_POLICY when the session is refused. */
  ready(): Promise<SessionAck>;
  call<Name extends keyof Tools & string>(
    tool: Name,
    args: Tools[Name]['args'],
    options?: ClientCallOptions,
  ): Promise<ToolResponseWith<Tools[Name]['data']>>;
  /**
   * Several calls in one message, at most 64. Resolves with their answers in the order of the calls; an ErrorMessage is the
   * refusal of one call. Rejects when the batch itself is refused or its answer is lost.
   */
  batch(
    calls: readonly ClientBatchCall<Tools>[],
    options?: ClientBatchOptions,
  ): Promise<readonly (ToolResponse | ErrorMessage)[]>;
  heartbeat(): Promise<void>;
  /**
   * Everything that happens in the session, until the loop is left or the client closed; throws what ends the
   * connection. A gap is marked by an event `EventsMissed`.
   */
  events(options?: EventsOptions): AsyncIterableIterator<EventMessage>;
  /** Rejects every open call with E_INTERNAL, `details.reason` = `connection_closed`. */
  close(): Promise<void>;
}
