/** How a connection comes back, and what happens when its session does not. */
import type { ToolError } from '../primitives/errors.ts';
import type { BackoffOptions } from './backoff.ts';

export interface NewSession {
  /** Left out: the session with which the host greets the next connection. */
  readonly session_id?: string;
}

export interface ReconnectOptions extends BackoffOptions {
  /** The session to use; without it, the one the first connection is greeted with. */
  readonly sessionId?: string;
  /** Failed attempts in a row after which the host counts as gone. */
  readonly attempts?: number;
  /** How long opening a connection may take. */
  readonly openTimeoutMs?: number;
  /** How long a heartbeat may go unanswered before the connection counts as dead. */
  readonly silenceMs?: number;
  onDrop?(error: ToolError): void;
  /** May open another session in place of the lost one. Calls that were never sent then go to the new one. */
  onSessionLost?(error: ToolError): NewSession | undefined | Promise<NewSession | undefined>;
}
