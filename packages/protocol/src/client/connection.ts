/** What a transport gives the client: messages in, messages out. Framing, addresses and tokens are the transport's own. */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';

export interface Connection {
  /** Resolves when the platform has room for more. A throw leaves open whether the host got the message. */
  send(message: ClientMessage): void | Promise<void>;
  /** Iterated once. Ends when the connection does; a throw counts as its end. */
  messages(): AsyncIterable<ServerMessage>;
  /** Ends `messages()` too. */
  close(): void | Promise<void>;
  /** The same without a goodbye, where that makes a difference: the host then keeps the session for its return. */
  abandon?(): void | Promise<void>;
  /** False when the host does not begin with a SessionAck of its own accord. */
  readonly greets?: boolean;
  /** The session may be replaced by another after it was lost; a SessionAck then names the new one. */
  readonly changesSession?: boolean;
  /** Only on connections that bring no events unasked, such as HTTP: asks for the progress of this session's calls. */
  wantEvents?(sessionId: string): void | Promise<void>;
}

/** Called for every new connection; the signal is aborted when it takes too long or is no longer needed. */
export type Connect = (signal: AbortSignal) => Connection | Promise<Connection>;

/** Ends a connection and ignores failures. `for good`: also takes leave of the host. */
export async function closeQuietly(connection: Connection | undefined, how: 'for good' | 'to return'): Promise<void> {
  try {
    if (how === 'to return' && connection?.abandon !== undefined) await connection.abandon();
    else await connection?.close();
  } catch {
    // May stop here: it is closed because it is broken or no longer needed.
  }
}
