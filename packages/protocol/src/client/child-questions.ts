/**
 * Children on a connection that comes back. They stay behind: a child was held by the wire it was opened on, and comes back
 * with a token of its own on a connection of its own. So what was asked of it, or for it, and has no answer when the wire
 * breaks is reported as `outcome_unknown`.
 */
import type { ChildEnd } from '../envelopes/from-client/child-end.ts';
import type { ChildOpen } from '../envelopes/from-client/child-open.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { outcomeUnknown, toErrorMessage } from './error-messages.ts';

export class ChildQuestions {
  readonly #open = new Set<string>();
  readonly #children = new Set<string>();

  /** Asks by `send`; what could not be sent was not asked. */
  async ask(message: ChildOpen | ChildEnd, send: () => Promise<void>): Promise<void> {
    this.#open.add(message.request_id);
    try {
      await send();
    } catch (thrown) {
      this.#open.delete(message.request_id);
      throw thrown;
    }
  }

  /** Whether the message is the one answer to a question. */
  isAnswer(message: ServerMessage): boolean {
    if (message.type === 'ChildAck') this.#children.add(message.session_id);
    const isTerminal = message.type === 'ChildAck' || message.type === 'ChildEnded' || message.type === 'ErrorMessage';
    return isTerminal && message.request_id !== null && this.#open.delete(message.request_id);
  }

  /** Also one that has ended: its refusals say nothing about the parent's session. */
  isChild(sessionId: string): boolean {
    return this.#children.has(sessionId);
  }

  /** The wire broke: what to tell those who wait. */
  abandon(): ErrorMessage[] {
    const lost = [...this.#open].map((requestId) => toErrorMessage(outcomeUnknown('connection_lost'), requestId));
    this.#open.clear();
    return lost;
  }
}
