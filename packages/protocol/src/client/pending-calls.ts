/**
 * Calls that wait for their terminal message, by request id.
 *
 * A call leaves the table the moment it is settled, so a second terminal message and late events find nothing.
 */
import type { EventMessage } from '../envelopes/event-message.ts';
import type { ToolResponse } from '../envelopes/tool-response.ts';
import type { ToolError } from '../errors.ts';

export interface PendingCall {
  readonly onEvent: ((event: EventMessage) => void) | undefined;
  resolve(response: ToolResponse): void;
  reject(error: ToolError): void;
}

export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();

  has(requestId: string): boolean {
    return this.#calls.has(requestId);
  }

  get(requestId: string): PendingCall | undefined {
    return this.#calls.get(requestId);
  }

  add(requestId: string, call: PendingCall): void {
    this.#calls.set(requestId, call);
  }

  /** Removes and hands over the call, for the one message that ends it. */
  take(requestId: string): PendingCall | undefined {
    const call = this.#calls.get(requestId);
    this.#calls.delete(requestId);
    return call;
  }

  rejectAll(error: ToolError): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(error);
  }
}
