/**
 * One pass over a JSON text before it is parsed: refuses what `JSON.parse` refuses, and also what it would
 * quietly accept but two readers may understand differently (doubled keys, `__proto__`, numbers that overflow).
 *
 * Iterative, so nesting costs memory only up to `maxDepth`; the first fault ends the scan. Offsets count UTF-16
 * units, as string indexes do.
 */
import { type JsonObject, ToolError } from './errors.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  exponentEnd,
  isDigit,
  MINUS,
  mantissaEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipWhitespace,
  stringEnd,
  wordEnd,
} from './json-tokens.ts';
import { clipText, fitsUtf8, formatPath } from './safe-text.ts';

export interface ScanLimits {
  /** Size of the text in UTF-8 bytes. */
  readonly maxBytes?: number;
  /** Containers inside each other; a bare scalar has depth 0. */
  readonly maxDepth?: number;
  /** Object keys in the whole text; unlimited when left out. */
  readonly maxKeys?: number;
}

export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
export const DEFAULT_MAX_DEPTH = 64;

export type ScanFault =
  | 'syntax'
  | 'too_large'
  | 'too_deep'
  | 'too_many_keys'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'number_out_of_range';

/** Throws E_VALIDATION_FAIL with `details.reason` (a ScanFault) and `details.offset`; returns when the text is safe to parse. */
export function scanJson(text: string, limits: ScanLimits = {}): void {
  checkSize(text, limits.maxBytes ?? DEFAULT_MAX_BYTES);
  new Scanner(text, limits.maxDepth ?? DEFAULT_MAX_DEPTH, limits.maxKeys ?? Number.POSITIVE_INFINITY).run();
}

function checkSize(text: string, maxBytes: number): void {
  if (fitsUtf8(text, maxBytes)) return;
  throw refusal(`JSON text is larger than the limit: ${maxBytes} bytes`, '', { reason: 'too_large', offset: maxBytes });
}

function refusal(message: string, path: string, details: JsonObject & { readonly reason: ScanFault }): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { ...(path === '' ? {} : { path }), details });
}

class Scanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #maxKeys: number;
  /** One per open container; kept when it closes and used again for the next at that depth. */
  readonly #levels: OpenContainer[] = [];
  #depth = 0;
  #keys = 0;

  constructor(text: string, maxDepth: number, maxKeys: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#maxKeys = maxKeys;
  }

  run(): void {
    const text = this.#text;
    let at = skipWhitespace(text, 0);
    while (true) {
      const code = text.charCodeAt(at);
      at = code === OPEN_BRACE || code === OPEN_BRACKET ? this.#open(at, code) : this.#closeAll(this.#scalar(at, code));
      if (this.#depth === 0) break;
    }
    if (at < text.length) throw this.#syntax(at);
  }

  #scalar(start: number, code: number): number {
    if (code === QUOTE) return this.#settled(stringEnd(this.#text, start));
    if (code === MINUS || isDigit(code)) return this.#number(start);
    return this.#settled(wordEnd(this.#text, start));
  }

  #number(start: number): number {
    const text = this.#text;
    const mantissa = this.#settled(mantissaEnd(text, start));
    const end = this.#settled(exponentEnd(text, mantissa));
    // Without an exponent it takes more than 308 digits to leave the range of a double.
    const isSuspect = end !== mantissa || end - start > 308;
    if (isSuspect && !Number.isFinite(Number(text.slice(start, end)))) {
      throw this.#fault('number_out_of_range', 'Number out of range in JSON', start);
    }
    return end;
  }

  /** Returns the start of the first value inside, or, for an empty container, what follows it. */
  #open(start: number, code: number): number {
    if (this.#depth >= this.#maxDepth) {
      throw this.#fault('too_deep', `JSON is nested deeper than ${this.#maxDepth} levels`, start);
    }
    const level = this.#levels[this.#depth] ?? this.#addLevel();
    level.reset(code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
    this.#depth++;
    const at = skipWhitespace(this.#text, start + 1);
    if (this.#text.charCodeAt(at) === level.closer) return this.#closeAll(at);
    return level.isObject ? this.#key(at, level) : at;
  }

  #addLevel(): OpenContainer {
    const level = new OpenContainer();
    this.#levels.push(level);
    return level;
  }

  /** After a value: closes what ends here. Returns the start of the next value, or the end once nothing is open. */
  #closeAll(end: number): number {
    const text = this.#text;
    let at = skipWhitespace(text, end);
    while (this.#depth > 0) {
      const level = this.#levels[this.#depth - 1] as OpenContainer;
      const code = text.charCodeAt(at);
      if (code === COMMA) {
        const next = skipWhitespace(text, at + 1);
        if (level.isObject) return this.#key(next, level);
        level.addItem();
        return next;
      }
      if (code !== level.closer) throw this.#syntax(at);
      this.#depth--;
      at = skipWhitespace(text, at + 1);
    }
    return at;
  }

  /** Reads a key and its colon. Returns the start of the value. */
  #key(start: number, level: OpenContainer): number {
    const text = this.#text;
    level.current = undefined;
    if (text.charCodeAt(start) !== QUOTE) throw this.#syntax(start);
    const end = this.#settled(stringEnd(text, start));
    const raw = text.slice(start + 1, end - 1);
    const key = raw.indexOf('\\') === -1 ? raw : (JSON.parse(text.slice(start, end)) as string);
    const isNew = level.addKey(key);
    if (key === '__proto__') throw this.#fault('forbidden_key', 'Forbidden key in JSON', start);
    if (!isNew) throw this.#fault('duplicate_key', 'Duplicate key in JSON', start);
    if (++this.#keys > this.#maxKeys) {
      throw this.#fault('too_many_keys', `JSON has more than ${this.#maxKeys} keys`, start);
    }
    const colon = skipWhitespace(text, end);
    if (text.charCodeAt(colon) !== COLON) throw this.#syntax(colon);
    return skipWhitespace(text, colon + 1);
  }

  #settled(end: number): number {
    if (end < 0) throw this.#syntax(~end);
    return end;
  }

  #syntax(offset: number): ToolError {
    const found = offset >= this.#text.length ? 'unexpected end' : `unexpected ${clipText(this.#text.charAt(offset))}`;
    return this.#fault('syntax', `Invalid JSON, ${found}`, offset);
  }

  #fault(reason: ScanFault, problem: string, offset: number): ToolError {
    const open = this.#levels.slice(0, this.#depth).map((level) => level.current);
    const path = formatPath(open.filter((segment) => segment !== undefined));
    return refusal(`${problem}: ${path === '' ? '' : `${path} `}at offset ${offset}`, path, { reason, offset });
  }
}

const SMALL = 8;

/**
 * What one open JSON container has shown so far: the keys of an object, or the position in an array.
 *
 * A handful of keys is compared one by one; a Set is made only for objects that grow past that, because hashing
 * every key of every small object is what makes naive duplicate checks slow.
 */
class OpenContainer {
  /** Character code that ends it. */
  closer = CLOSE_BRACE;
  /** The key or index being read; undefined between the members of an object. */
  current: string | number | undefined;
  #few: string[] = [];
  #count = 0;
  #many: Set<string> | undefined;

  get isObject(): boolean {
    return this.closer === CLOSE_BRACE;
  }

  /** Starts over: one instance serves every container that opens at its depth. */
  reset(closer: number): void {
    this.closer = closer;
    this.current = closer === CLOSE_BRACE ? undefined : 0;
    this.#count = 0;
    this.#many = undefined;
  }

  /** False when the object has this key already. */
  addKey(key: string): boolean {
    this.current = key;
    if (this.#many !== undefined) return this.#many.size < this.#many.add(key).size;
    for (let index = 0; index < this.#count; index++) if (this.#few[index] === key) return false;
    this.#few[this.#count++] = key;
    if (this.#count === SMALL) this.#many = new Set(this.#few);
    return true;
  }

  addItem(): void {
    this.current = (this.current as number) + 1;
  }
}
