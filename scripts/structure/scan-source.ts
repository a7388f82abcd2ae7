/**
 * A small tokenizer for TypeScript: blanks comments, strings and regular expressions, keeps every offset.
 *
 * What is left (`code`) can be searched with plain patterns without meeting words inside text. Template literals are
 * blanked except for the code in their `${}` parts. Telling a regular expression from a division is a heuristic on the
 * token before it; it errs on real code only after a `)` that closes an `if` without braces.
 */

export interface StringLiteral {
  /** Of the opening quote. */
  readonly offset: number;
  readonly value: string;
}

export interface Scan {
  readonly code: string;
  /** Without the marks at both ends; an offset is that of the first character. */
  readonly comments: readonly StringLiteral[];
  readonly strings: readonly StringLiteral[];
}

const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{;+\-*%~^<>]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await))$/;

export function scanSource(text: string): Scan {
  return new Scanner(text).run();
}

class Scanner {
  readonly #text: string;
  readonly #out: string[] = [];
  readonly #strings: StringLiteral[] = [];
  readonly #comments: StringLiteral[] = [];
  /** Open braces per `${` being read; the last entry belongs to the innermost template. */
  readonly #templates: number[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Scan {
    if (this.#text.startsWith('#!')) this.#blankUntil(this.#lineEnd());
    while (this.#at < this.#text.length) this.#step();
    return { code: this.#out.join(''), comments: this.#comments, strings: this.#strings };
  }

  #step(): void {
    const char = this.#text.charAt(this.#at);
    const pair = this.#text.slice(this.#at, this.#at + 2);
    if (pair === '//') this.#comment(this.#lineEnd());
    else if (pair === '/*') this.#comment(this.#after('*/'));
    else if (char === "'" || char === '"') this.#quoted(char);
    else if (char === '`') this.#template();
    else if (char === '/' && this.#regexEnd() > 0) this.#blankUntil(this.#regexEnd());
    else if (this.#templates.length > 0 && (char === '{' || char === '}')) this.#templateBrace(char);
    else this.#keep(char);
  }

  #keep(char: string): void {
    this.#out.push(char);
    this.#at += 1;
  }

  #comment(end: number): void {
    const start = this.#at + 2;
    this.#comments.push({ offset: start, value: this.#text.slice(start, end).replace(/\*\/$/, '') });
    this.#blankUntil(end);
  }

  #quoted(quote: string): void {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== quote && this.#text[end] !== '\n') {
      end += this.#text[end] === '\\' ? 2 : 1;
    }
    this.#strings.push({ offset: start, value: this.#text.slice(start + 1, end) });
    this.#keep(quote);
    this.#blankUntil(end);
    if (this.#text[end] === quote) this.#keep(quote);
  }

  /** From a backtick, or from the `}` that ends a `${}` part, to the closing backtick or the next `${`. */
  #template(): void {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '`' && !this.#text.startsWith('${', end)) {
      end += this.#text[end] === '\\' ? 2 : 1;
    }
    const opensPart = this.#text.startsWith('${', end);
    if (!opensPart && this.#text[start] === '`') {
      this.#strings.push({ offset: start, value: this.#text.slice(start + 1, end) });
    }
    if (opensPart) this.#templates.push(0);
    this.#blankUntil(end + (opensPart ? 2 : 1));
  }

  #templateBrace(char: string): void {
    const depth = this.#templates.at(-1) ?? 0;
    if (char === '}' && depth === 0) {
      this.#templates.pop();
      this.#template();
    } else {
      this.#templates[this.#templates.length - 1] = depth + (char === '{' ? 1 : -1);
      this.#keep(char);
    }
  }

  /** The offset after the regular expression that starts here, or 0 when this slash divides. */
  #regexEnd(): number {
    if (!BEFORE_REGEX.test(this.#out.slice(-80).join('').trimEnd())) return 0;
    let inClass = false;
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const char = this.#text[at];
      if (char === '\n') return 0;
      if (char === '\\') at += 1;
      else if (char === '[') inClass = true;
      else if (char === ']') inClass = false;
      else if (char === '/' && !inClass) return at + 1;
    }
    return 0;
  }

  #blankUntil(end: number): void {
    const stop = Math.min(end, this.#text.length);
    for (; this.#at < stop; this.#at += 1) this.#out.push(this.#text[this.#at] === '\n' ? '\n' : ' ');
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at);
    return end < 0 ? this.#text.length : end;
  }

  #after(closing: string): number {
    const end = this.#text.indexOf(closing, this.#at + 2);
    return end < 0 ? this.#text.length : end + closing.length;
  }
}
