/**
 * What the suite needs of a way to talk to a host, and what each way says about itself where it cannot express
 * something: the suite then checks what there is instead, and never passes over it in silence.
 */
import type { ClientMessage } from '@tool-runtime/protocol';
import type { Inbox } from './inbox.ts';
import type { Stage } from './stage.ts';
import type { Traffic } from './traffic.ts';

export interface Traits {
  /** How a session begins: the host speaks first, or it is opened by a request of its own. */
  readonly greeting: 'acknowledgement' | 'request';
  /** Events and answers on one ordered stream, or apart. */
  readonly streams: 'one' | 'two';
  /** How a client comes back to its session. */
  readonly return: 'attach' | 'requests' | 'by itself' | 'never';
  /** How the host shows that it lives. */
  readonly beats: 'heartbeats' | 'comments' | 'none';
  /** What the client lets a test send: any bytes, any text, or well-formed messages only. */
  readonly sends: 'bytes' | 'text' | 'messages';
  /** What follows bytes that are no UTF-8. */
  readonly badBytes: 'refusal' | 'end';
  /** What follows a message far beyond the limit. */
  readonly farTooLarge: 'refusal' | 'end';
  /** Whether a client may come with the token of one session. */
  readonly tokens: 'bearer' | 'none';
  /** Whether a client may answer questions on this connection. */
  readonly approvals: 'answered' | 'refused';
  /** Requests to have in flight at once. */
  readonly many: number;
  /** How long a session of a client that beats as fast as it can may safely wait for a beat. */
  readonly patienceMs: number;
}

export interface Transport {
  readonly traits: Traits;
  readonly traffic: Traffic;
  readonly stage: Stage;
  connect(options?: ConnectOptions): Promise<Client>;
  /** Of the newest event, for transports whose host can be asked; the others keep none. */
  readonly lastEventId?: (sessionId: string) => Promise<number>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Comes with the token of a session opened for it, not with that of the host. */
  readonly withSessionToken?: boolean;
  /** The session ends when no message comes for so long. */
  readonly heartbeatTimeoutMs?: number;
  /** Comes back for the session of this client. */
  readonly after?: Client;
}

export interface Attach {
  readonly after?: number;
  readonly pending?: readonly string[];
  readonly events?: 'progress' | 'all';
}

export interface Client {
  readonly sessionId: string;
  readonly inbox: Inbox;
  send(message: ClientMessage): void;
  /** Whatever it is. */
  sendRaw(bytes: string | Uint8Array): void;
  /** Resolves when all events of the session come here; answers of `pending` follow. */
  attach(attach?: Attach): Promise<void>;
  /** Cuts the connection without a goodbye. */
  drop(): Promise<void> | void;
  /** Ends the session: after its running calls, or at once. Resolves when it has ended. */
  endSession(how: 'wait' | 'cancel'): Promise<void>;
  /** Leaves in order. */
  leave(): Promise<void> | void;
}
