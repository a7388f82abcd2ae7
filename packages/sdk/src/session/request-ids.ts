/** Refuses a request id that this session has seen, because two answers to one id help nobody. */
import { hash } from 'node:crypto';
import { ToolError } from '@tool-runtime/protocol';

/** Enough to catch a client's mistake; the memory of a long session stays flat. */
const REMEMBERED = 100_000;
/** Longer ones are remembered by a digest of this many characters, so that the size of ids costs nothing. */
const MAX_CHARS = 44;

export class RequestIds {
  readonly #seen = new Set<string>();

  has(requestId: string): boolean {
    return this.#seen.has(shortened(requestId));
  }

  /** What is remembered, in characters. */
  get chars(): number {
    let sum = 0;
    for (const { length } of this.#seen) sum += length;
    return sum;
  }

  /** A call that carries an idempotency key may repeat its id: it is answered from the record. */
  claim(requestId: string, { isKeyed }: { isKeyed: boolean }): void {
    const id = shortened(requestId);
    if (this.#seen.has(id)) {
      if (isKeyed) return;
      throw new ToolError('E_VALIDATION_FAIL', 'Request id was used before in this session', {
        path: 'request_id',
        details: { gate: 'session', reason: 'request_id_reused', next: 'use a new request_id for every call' },
      });
    }
    this.#seen.add(id);
    if (this.#seen.size > REMEMBERED) {
      const [oldest] = this.#seen;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
  }

  forget(requestId: string): void {
    this.#seen.delete(shortened(requestId));
  }
}

/** A digest is as long as the limit, so no shorter id can be taken for one. */
function shortened(requestId: string): string {
  return requestId.length < MAX_CHARS ? requestId : hash('sha256', requestId, 'base64');
}
