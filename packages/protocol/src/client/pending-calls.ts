/**
 * Calls that wait for their terminal message, by request id.
 *
 * A call leaves the table the moment it is settled, so a second terminal message and late events find nothing.
 */
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { ToolError } from '../primitives/errors.ts';

export interface PendingCall {
  readonly onEvent: ((event: EventMessage) => void) | undefined;
  /** The last event it was told of; a resumed connection may bring it once more. */
  lastEventId?: number;
  resolve(response: ToolResponse | BatchResponse): void;
  reject(error: ToolError): void;
}

export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();

  has(requestId: string): boolean {
    return this.#calls.has(requestId);
  }

  add(requestId: string, call: PendingCall): void {
    this.#calls.set(requestId, call);
  }

  /** Throws what the listener throws. */
  announce(event: EventMessage): void {
    const call = this.#calls.get(event.request_id);
    if (call?.onEvent === undefined) return;
    if (event.id !== undefined) {
      if (event.id <= (call.lastEventId ?? -1)) return;
      call.lastEventId = event.id;
    }
    call.onEvent(event);
  }

  /** Removes and passes on the call, for the one message that ends it. */
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
