/** Refuses a request id that this session has seen, because two answers to one id help nobody. */
import { ToolError } from '@tool-runtime/protocol';

/** Enough to catch a client's mistake; the memory of a long session stays flat. */
const REMEMBERED = 100_000;

export class RequestIds {
  readonly #seen = new Set<string>();

  has(requestId: string): boolean {
    return this.#seen.has(requestId);
  }

  /** A call that carries an idempotency key may repeat its id: it is answered from the record. */
  claim(requestId: string, { isKeyed }: { isKeyed: boolean }): void {
    if (this.#seen.has(requestId)) {
      if (isKeyed) return;
      throw new ToolError('E_VALIDATION_FAIL', 'Request id was used before in this session', {
        path: 'request_id',
        details: { gate: 'session', reason: 'request_id_reused', next: 'use a new request_id for every call' },
      });
    }
    this.#seen.add(requestId);
    if (this.#seen.size > REMEMBERED) {
      const [oldest] = this.#seen;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
  }
}
