/** Packed facts of files that were asked about, opened. The rest is read again when needed: 20 µs from the database. */
import { FactsView } from './facts-view.ts';
import type { FileCard } from './file-card.ts';
import type { RecordStore } from './record-store.ts';

const MAX_BYTES = 8 * 1024 * 1024;

export class FactsCache {
  readonly #store: RecordStore;
  /** By path, the longest kept first. */
  readonly #views = new Map<string, { readonly crc: number; readonly view: FactsView }>();
  #bytes = 0;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  /** Undefined when the stored facts are gone, or not those the card was made from: the file must be read again. */
  get(card: FileCard): FactsView | undefined {
    const known = this.#views.get(card.path);
    // Not moved to the end: that would cost as much as the answer, and half of them survive a clearing anyway.
    if (known?.crc === card.crc) return known.view;
    const bytes = this.#store.facts(card.path, card.crc);
    if (bytes === undefined) return undefined;
    const view = new FactsView(bytes);
    this.put(card.path, card.crc, view);
    return view;
  }

  put(path: string, crc: number, view: FactsView): void {
    this.drop(path);
    this.#views.set(path, { crc, view });
    this.#bytes += view.bytes.byteLength;
    if (this.#bytes <= MAX_BYTES) return;
    for (const [oldest] of this.#views) {
      if (this.#bytes <= MAX_BYTES / 2) break;
      this.drop(oldest);
    }
  }

  drop(path: string): void {
    const known = this.#views.get(path);
    if (known === undefined) return;
    this.#views.delete(path);
    this.#bytes -= known.view.bytes.byteLength;
  }
}
