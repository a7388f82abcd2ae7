/**
 * Refuses a request id that this session has seen, because two answers to one id cannot be told apart.
 *
 * An id is kept as 64 bits of a hash: eight bytes each instead of a string, so that a thousand sessions with thousands of
 * calls each cost a few megabytes. Two different ids with one hash would refuse the second of them; with the ids kept
 * here the chance is below one in 10^14, and a client that builds such ids only gets its own calls refused.
 */
import { ToolError } from '@tool-runtime/protocol';

/** Between one and two generations are remembered: enough to catch a client's mistake. */
const GENERATION = 8192;
const FIRST_SLOTS = 64;
const EMPTY = 0;
const REMOVED = 1;

export class RequestIds {
  #young = new HashTable();
  #old = new HashTable();

  has(requestId: string): boolean {
    const hash = hashOf(requestId);
    return this.#young.has(hash) || this.#old.has(hash);
  }

  /** What is remembered takes this much memory. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /** A call that carries an idempotency key may repeat its id: it is answered from the record. */
  claim(requestId: string, { isKeyed }: { isKeyed: boolean }): void {
    const hash = hashOf(requestId);
    if (this.#young.has(hash) || this.#old.has(hash)) {
      if (isKeyed) return;
      throw new ToolError('E_VALIDATION_FAIL', 'Request id was used before in this session', {
        path: 'request_id',
        details: { gate: 'session', reason: 'request_id_reused', next: 'use a new request_id for every call' },
      });
    }
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new HashTable();
    }
    this.#young.add(hash);
  }

  forget(requestId: string): void {
    const hash = hashOf(requestId);
    this.#young.remove(hash);
    this.#old.remove(hash);
  }
}

/** A set of hashes in one array, two numbers each: open addressing, at most half full. */
class HashTable {
  #slots = new Uint32Array(FIRST_SLOTS * 2);
  /** Slots in use, removed ones included: they are freed when the table grows. */
  #used = 0;

  get size(): number {
    return this.#used;
  }

  get bytes(): number {
    return this.#slots.byteLength;
  }

  has(hash: Hash): boolean {
    return this.#slots[this.#find(hash)] === hash.high;
  }

  add(hash: Hash): void {
    if (this.#used * 4 >= this.#slots.length) this.#grow();
    this.#put(hash, hash.high);
    this.#used += 1;
  }

  remove(hash: Hash): void {
    if (this.has(hash)) this.#put(hash, REMOVED);
  }

  #put(hash: Hash, high: number): void {
    const at = this.#find(hash);
    this.#slots[at] = high;
    this.#slots[at + 1] = hash.low;
  }

  /** Where the hash is, or the free slot where it belongs. */
  #find({ high, low }: Hash): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (low * 2) & mask;
    while (slots[at] !== EMPTY && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 2) & mask;
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    this.#used = 0;
    for (let at = 0; at < before.length; at += 2) {
      const [high = EMPTY, low = 0] = before.subarray(at, at + 2);
      if (high > REMOVED) this.add({ high, low });
    }
  }
}

interface Hash {
  /** Never one of the numbers that mark a slot. */
  readonly high: number;
  readonly low: number;
}

/** Two multiplicative hashes of 32 bits with different constants, mixed at the end. */
function hashOf(text: string): Hash {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return { high: Math.max(high >>> 0, REMOVED + 1), low: low >>> 0 };
}
