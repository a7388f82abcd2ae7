/** The characters of a TOML file, read from left to right: keys, values, comments, line ends. */
import { notParsed } from './config-problem.ts';

/** Numbers and dates stay as they are written: they are compared, never computed with. */
export type TomlValue =
  | string
  | boolean
  | { readonly written: string }
  | readonly TomlValue[]
  | ReadonlyMap<string, TomlValue>;

const MAX_DEPTH = 100;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC = /"(?:[^"\\\u0000-\u0008\u000a-\u001f\u007f]|\\(?:[btnfre"\\]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*"/y;
const LITERAL = /'[^'\u0000-\u0008\u000a-\u001f\u007f]*'/y;
/** Up to two quotation marks may stand before the three that end it. */
const LONG_BASIC = /"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}/y;
const LONG_LITERAL = /'''(?:[^']|'{1,2}(?!'))*'{3,5}/y;
const SCALAR = /[+-]?[0-9A-Za-z][0-9A-Za-z_.:+-]*(?: [0-9]{2}:[0-9]{2}:[0-9.:+Zz-]+)?/y;
const NUMBER = /^(?:[+-]?(?:inf|nan|[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9_]+)?)|0[xob][0-9A-Fa-f_]+)$/;
const TIME = /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9:.]+(?:[Zz]|[+-][0-9:]+)?)?|[0-9]{2}:[0-9]{2}(?::[0-9.]+)?)$/;
const SPACE = /[ \t]*/y;
const COMMENT = /#[^\n]*/y;
const BLANK = /(?:[ \t\r\n]+|#[^\n]*)*/y;

export class TomlReader {
  readonly text: string;
  at: number;

  constructor(text: string) {
    this.text = text;
    this.at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  get atEnd(): boolean {
    return this.at === this.text.length;
  }

  problem(what: string): Error {
    return notParsed(what, this.text, this.at);
  }

  /** White space, comments and empty lines. */
  skipBlank(): void {
    this.#match(BLANK);
  }

  skipSpace(): void {
    this.#match(SPACE);
  }

  take(words: string): boolean {
    if (!this.text.startsWith(words, this.at)) return false;
    this.at += words.length;
    return true;
  }

  expect(words: string): void {
    if (!this.take(words)) throw this.problem(`${words} was expected`);
  }

  /** Behind a header or a value only a comment may stand. Stops before the line end. */
  finishLine(): void {
    this.skipSpace();
    this.#match(COMMENT);
    // A comment takes the carriage return of its line along.
    if (this.atEnd || /^\r?\n/.test(this.text.slice(this.at, this.at + 2))) return;
    throw this.problem('the line goes on');
  }

  readKey(): string[] {
    const parts: string[] = [];
    do {
      this.skipSpace();
      parts.push(this.#readKeyPart());
      this.skipSpace();
    } while (this.take('.'));
    return parts;
  }

  #readKeyPart(): string {
    const quoted = this.#match(BASIC);
    if (quoted !== undefined) return decodeBasic(quoted);
    const literal = this.#match(LITERAL);
    if (literal !== undefined) return literal.slice(1, -1);
    const bare = this.#match(BARE_KEY);
    if (bare === undefined) throw this.problem('a key was expected');
    return bare;
  }

  readValue(depth = 0): TomlValue {
    if (depth > MAX_DEPTH) throw this.problem(`nested deeper than ${MAX_DEPTH} levels`);
    if (this.take('[')) return this.#readArray(depth);
    if (this.take('{')) return this.#readInlineTable(depth);
    return this.#readText() ?? this.#readScalar();
  }

  #readText(): TomlValue | undefined {
    const long = this.#match(LONG_BASIC) ?? this.#match(LONG_LITERAL);
    if (long !== undefined) return { written: long };
    if (this.text.startsWith('"""', this.at) || this.text.startsWith("'''", this.at))
      throw this.problem('text has no end');
    const basic = this.#match(BASIC);
    return basic === undefined ? this.#match(LITERAL)?.slice(1, -1) : decodeBasic(basic);
  }

  #readScalar(): TomlValue {
    const written = this.#match(SCALAR);
    if (written === 'true' || written === 'false') return written === 'true';
    if (written !== undefined && (NUMBER.test(written) || TIME.test(written))) return { written };
    this.at -= written?.length ?? 0;
    throw this.problem('a value was expected');
  }

  #readArray(depth: number): TomlValue {
    const items: TomlValue[] = [];
    for (;;) {
      this.skipBlank();
      if (this.take(']')) return items;
      items.push(this.readValue(depth + 1));
      this.skipBlank();
      if (!this.take(',')) {
        this.expect(']');
        return items;
      }
    }
  }

  #readInlineTable(depth: number): TomlValue {
    const table = new Map<string, TomlValue>();
    for (;;) {
      this.skipBlank();
      if (this.take('}')) return table;
      const key = JSON.stringify(this.readKey());
      if (table.has(key)) throw this.problem('a key occurs twice');
      this.expect('=');
      this.skipSpace();
      table.set(key, this.readValue(depth + 1));
      this.skipBlank();
      if (!this.take(',')) {
        this.expect('}');
        return table;
      }
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }
}

function decodeBasic(quoted: string): string {
  const json = quoted
    .replaceAll('\t', '\\t')
    .replace(/\\(\\|e|U([0-9a-fA-F]{8}))/g, (whole, letter: string, hex: string | undefined) => {
      if (letter === 'e') return '\\u001b';
      return hex === undefined ? whole : JSON.stringify(codePoint(hex)).slice(1, -1);
    });
  return JSON.parse(json) as string;
}

function codePoint(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code > 0x10ffff ? '\uFFFD' : String.fromCodePoint(code);
}
