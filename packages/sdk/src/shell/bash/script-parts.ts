/** What readers of a bash script pass around: words, commands, here-documents and the problem that ends a reading. */

export interface ScriptWord {
  /** As written. */
  readonly raw: string;
  /** Quotes resolved; undefined when only running the script gives the text. */
  readonly text: string | undefined;
}

/** Text that a command reads as its input; `body` stays undefined when it is computed. */
export interface InputText {
  body: string | undefined;
}

export interface Heredoc extends InputText {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

export interface RawCommand {
  readonly words: readonly ScriptWord[];
  readonly input: InputText | undefined;
  /** Where it starts in the script, from 0. */
  readonly at: number;
}

/** What a script was found to hold. Readers of nested texts share one. */
export interface Findings {
  readonly commands: RawCommand[];
  /** Names of functions that the script defines. */
  readonly functions: Set<string>;
  /** Places where bash evaluates text that it computed. */
  readonly evaluated: number[];
  /** Bounds the work: attempts that fail are read twice. */
  steps: number;
  depth: number;
}

/** Why a script could not be read to its end. */
export class ScriptProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** A word while it is read. */
export class WordText {
  #text = '';
  #isComputed = false;
  #brace: 'none' | 'open' | 'parted' = 'none';
  #hasBracket = false;

  /** Undefined: computed. */
  add(text: string | undefined): void {
    if (text === undefined) this.#isComputed = true;
    else this.#text += text;
  }

  /** A character outside quotes, which may be part of a wildcard or of a brace expansion. */
  addPlain(character: string): void {
    if (character === '*' || character === '?') this.#isComputed = true;
    if (character === '[') this.#hasBracket = true;
    if (character === ']' && this.#hasBracket) this.#isComputed = true;
    if (character === '{') this.#brace = 'open';
    if (this.#brace === 'open' && (character === ',' || (character === '.' && this.#text.endsWith('.')))) {
      this.#brace = 'parted';
    }
    if (character === '}' && this.#brace === 'parted') this.#isComputed = true;
    this.#text += character;
  }

  get text(): string | undefined {
    return this.#isComputed ? undefined : this.#text;
  }
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', e: '\u001b', E: '\u001b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
};

const ESCAPE = /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

/** The text of `$'…'`, escapes resolved as bash does. */
export function ansiText(inside: string): string {
  return inside.replace(ESCAPE, (whole: string, ...groups: readonly (string | undefined)[]) => {
    const [hex, short, long, octal, control, name = ''] = groups;
    const code = hex ?? short ?? long;
    if (code !== undefined) return character(Number.parseInt(code, 16));
    if (octal !== undefined) return character(Number.parseInt(octal, 8) & 0xff);
    if (control !== undefined) return character(control.charCodeAt(0) & 0x1f);
    return NAMED[name] ?? whole;
  });
}

function character(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\ufffd';
}
