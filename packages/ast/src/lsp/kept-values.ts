/**
 * Values of a server that callers hold by a name only: what it wants back unchanged but no one else should see.
 *
 * Servers put paths of the host into the `data` of an item and expect it back with the next request. The oldest are
 * forgotten; a new server process knows none of the old names.
 */
import { badRequest } from './server-errors.ts';

const MAX_VALUES = 2_000;

export class KeptValues {
  readonly #prefix: string;
  readonly #values = new Map<string, unknown>();
  #count = 0;

  /** `generation` keeps names of an earlier process from meaning something else now. */
  constructor(generation: number) {
    this.#prefix = `kept:${generation}.`;
  }

  keep(value: unknown): string {
    const name = `${this.#prefix}${++this.#count}`;
    this.#values.set(name, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest);
    return name;
  }

  /** Throws E_VALIDATION_FAIL for a name that is not known (any more). */
  get(name: unknown): unknown {
    if (typeof name === 'string' && this.#values.has(name)) return this.#values.get(name);
    throw badRequest(
      'Item is not known to the language server any more',
      'ask for the items again and use them as they came',
      'data',
    );
  }
}
