/**
 * `@tool-runtime/protocol/client`: the typed client of a host, over WebSocket, HTTP or lines of text.
 *
 * An entry of its own, so that programs which only need envelopes and errors do not load it.
 */
export type { BackoffOptions, NewSession, ReconnectOptions } from './client/backoff.ts';
export {
  type ConnectToHostOptions,
  connectToHost,
  type HostChildSession,
  type HostSession,
} from './client/connect-to-host.ts';
export type { Connect, Connection } from './client/connection.ts';
export type { EventsOptions } from './client/event-listeners.ts';
export {
  type CallState,
  createHostClient,
  type HostClient,
  type HostClientOptions,
} from './client/host-client.ts';
export type { ByteReader, FetchAnswer, FetchInit, FetchLike } from './client/host-wire.ts';
export { type HttpConnectionOptions, httpConnection } from './client/http-connection.ts';
export { type LineConnectionOptions, type LineWriter, lineConnection } from './client/line-connection.ts';
export { reconnecting } from './client/reconnecting.ts';
export type { RetryOptions } from './client/retry-call.ts';
export { createToolClient } from './client/tool-client.ts';
export type {
  ClientBatchCall,
  ClientBatchOptions,
  ClientCallOptions,
  LooseTools,
  ToolClient,
  ToolClientOptions,
  ToolMap,
  ToolResponseWith,
  ToolSignature,
} from './client/tool-client-interface.ts';
export {
  type SocketEvent,
  type SocketLike,
  WEB_SOCKET_PROTOCOL,
  type WebSocketConnectionOptions,
  webSocketConnection,
} from './client/web-socket-connection.ts';
