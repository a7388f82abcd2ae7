/**
 * Takes known values out of a stream of bytes, also where two chunks meet.
 *
 * Held back is only what could be the beginning of a value, never more than the longest of them: a prompt that waits for
 * an answer is seen at once. The output is the same however the stream was cut into chunks.
 */
import type { ByteFilter, MaskCount } from '../contracts/redaction.ts';
import { coverSpans, REDACTED, type ValueFinder } from './find-values.ts';

const NOTHING = new Uint8Array(0);

export class SecretStream implements ByteFilter {
  readonly #finder: ValueFinder;
  readonly #values: readonly string[];
  readonly #longest: number;
  readonly #beginnings: ReadonlySet<string>;
  masked = 0;
  #held = '';
  /** So much of what is held belongs to a match that was covered already. */
  #covered = 0;

  readonly #count: MaskCount | undefined;

  /** Of values as Latin-1 texts. */
  constructor(finder: ValueFinder, count?: MaskCount) {
    const { values } = finder;
    this.#finder = finder;
    this.#count = count;
    this.#values = values;
    this.#longest = Math.max(0, ...values.map(({ length }) => length));
    this.#beginnings = new Set(values.map((value) => value.charAt(0)));
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#values.length === 0) return chunk;
    const text = this.#held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const decided = this.#decidedEnd(text);
    if (decided === text.length && this.#held === '' && this.#covered === 0) {
      const spans = this.#finder.spans(text);
      if (spans.length === 0) return chunk;
      this.#note(spans.length);
      return Buffer.from(coverSpans(text, spans), 'latin1');
    }
    return this.#release(text, decided);
  }

  end(): Uint8Array {
    const text = this.#held;
    return text === '' ? NOTHING : this.#release(text, text.length);
  }

  /** Where the earliest value could begin that is not all there yet. */
  #decidedEnd(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      if (!this.#beginnings.has(text.charAt(at))) continue;
      const rest = text.slice(at);
      if (this.#values.some((value) => value.length > rest.length && value.startsWith(rest))) return at;
    }
    return text.length;
  }

  #release(text: string, decided: number): Uint8Array {
    const spans = this.#finder.spans(text, this.#covered);
    let clean = '';
    let from = 0;
    let carried = decided === 0 ? this.#covered : 0;
    for (const [start, end] of spans) {
      if (start >= decided) break;
      clean += text.slice(from, start);
      // Of a match that began in an earlier chunk the mark is out already.
      if (start > 0 || this.#covered === 0) {
        clean += REDACTED;
        this.#note(1);
      }
      from = Math.min(end, decided);
      carried = end - from;
    }
    clean += text.slice(from, decided);
    this.#held = text.slice(decided);
    this.#covered = carried;
    return Buffer.from(clean, 'latin1');
  }

  #note(masks: number): void {
    this.masked += masks;
    if (this.#count !== undefined) this.#count.masked += masks;
  }
}
