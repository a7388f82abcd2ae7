/** Every name once, as a number: files keep numbers, and a pattern is tried once per name instead of once per use. */

/** From this length on the engine cuts strings as windows that keep the whole text alive. */
const WINDOW_UNITS = 13;

export class NameTable {
  readonly #places = new Map<string, number>();
  readonly #texts: string[] = [];

  get size(): number {
    return this.#texts.length;
  }

  add(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const own = name.length < WINDOW_UNITS ? name : detached(name);
    const place = this.#texts.push(own) - 1;
    this.#places.set(own, place);
    return place;
  }

  /** Undefined for a name no file has. */
  find(name: string): number | undefined {
    return this.#places.get(name);
  }

  text(place: number): string {
    return this.#texts[place] ?? '';
  }
}

function detached(text: string): string {
  const encoding = /[^\u0000-\u00ff]/.test(text) ? 'utf16le' : 'latin1';
  return Buffer.from(text, encoding).toString(encoding);
}
