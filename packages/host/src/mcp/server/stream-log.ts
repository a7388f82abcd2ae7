/**
 * What was sent to one client of the 2025 family, so that a client whose stream ended comes back for the rest
 * (`Last-Event-ID`). Bounded: the oldest messages are given up first, never the newest.
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

interface SentEvent {
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

const MAX_SIZE = 4 * 1024 * 1024;

export class StreamLog implements EventStore {
  readonly #events = new Map<string, SentEvent>();
  readonly #maxSize: number;
  #size = 0;
  #last = 0;

  constructor(maxSize = MAX_SIZE) {
    this.#maxSize = maxSize;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = String(++this.#last);
    const size = sizeOf(message);
    this.#events.set(id, { stream, message, size });
    this.#size += size;
    this.#forget();
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(lastId)?.stream ?? '';
    for (const [id, event] of this.#events) {
      // The event that opens a stream has no message.
      const isNew = event.stream === stream && Number(id) > Number(lastId) && 'jsonrpc' in event.message;
      if (isNew) await send(id, event.message);
    }
    return stream;
  }

  #forget(): void {
    for (const [id, { size }] of this.#events) {
      if (this.#size <= this.#maxSize || this.#events.size === 1) return;
      this.#events.delete(id);
      this.#size -= size;
    }
  }
}

/** Roughly the memory a message takes. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 16;
  for (const [key, inner] of Object.entries(value)) size += key.length + sizeOf(inner);
  return size;
}
