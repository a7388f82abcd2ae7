/**
 * How much a server said that was not looked at yet.
 *
 * The connection takes one message per turn of the event loop while a pipe may bring thousands: a server that floods us
 * would fill our memory, and there is no way to make it wait.
 */
import { malformedFrame } from './server-errors.ts';

export const MAX_BACKLOG_BYTES = 256 * 1024 * 1024;
export const MAX_BACKLOG_MESSAGES = 50_000;

export class MessageBacklog {
  #messages = 0;
  /** Since nothing was waiting. */
  #bytes = 0;

  /** Throws E_INTERNAL with reason `malformed_frame` when it is too much. */
  arrive(bytes: number, messages: number): void {
    this.#bytes += bytes;
    this.#messages += messages;
    if (this.#bytes > MAX_BACKLOG_BYTES) throw malformedFrame(`more than ${MAX_BACKLOG_BYTES} bytes wait to be read`);
    if (this.#messages > MAX_BACKLOG_MESSAGES) throw malformedFrame(`more than ${MAX_BACKLOG_MESSAGES} messages wait`);
  }

  handled(): void {
    this.#messages -= 1;
    if (this.#messages === 0) this.#bytes = 0;
  }
}
