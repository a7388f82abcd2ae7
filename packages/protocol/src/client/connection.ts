/** What a transport gives the client: messages in, messages out. Framing, retries and tokens are the transport's own. */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';

export interface Connection {
  send(message: ClientMessage): void | Promise<void>;
  /** Iterated once. Ends when the connection does; a throw counts as its end. */
  messages(): AsyncIterable<ServerMessage>;
  close(): void | Promise<void>;
}
