/** Recent answers of all sessions, for clients whose connection broke before they read theirs. Bounded; oldest go first. */
interface Kept {
  readonly key: string;
  readonly text: string;
}

/** The dropped front of the line is cut off when it is this long. */
const SLACK = 1024;

export class AnswerStore {
  readonly #max: number;
  readonly #byKey = new Map<string, Kept>();
  /** In the order they came. A plain line with a moving front: deleting from the front of a map is slow. */
  #line: (Kept | undefined)[] = [];
  #front = 0;
  #size = 0;

  constructor(maxCharacters: number) {
    this.#max = maxCharacters;
  }

  keep(sessionId: string, requestId: string, text: string): void {
    const kept: Kept = { key: keyOf(sessionId, requestId), text };
    this.#byKey.set(kept.key, kept);
    this.#line.push(kept);
    this.#size += text.length;
    while (this.#size > this.#max) this.#dropOldest();
  }

  find(sessionId: string, requestId: string): string | undefined {
    return this.#byKey.get(keyOf(sessionId, requestId))?.text;
  }

  #dropOldest(): void {
    const oldest = this.#line[this.#front] as Kept;
    // Its place stays for a while, its text must not: a thousand large answers would outweigh the limit many times.
    this.#line[this.#front] = undefined;
    this.#front += 1;
    this.#size -= oldest.text.length;
    // A later answer under the same id stays.
    if (this.#byKey.get(oldest.key) === oldest) this.#byKey.delete(oldest.key);
    if (this.#front < SLACK) return;
    this.#line = this.#line.slice(this.#front);
    this.#front = 0;
  }
}

/** A space cannot be confused: session ids are ours and hold none. */
function keyOf(sessionId: string, requestId: string): string {
  return `${sessionId} ${requestId}`;
}
