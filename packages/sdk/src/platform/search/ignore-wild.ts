/**
 * The wildcard patterns of ignore files, in git's own dialect and on bytes, in time proportional to pattern × text.
 *
 * All places the text may have reached in the pattern are followed at once, so a hostile pattern cannot make it try
 * anything twice. Texts are byte strings: one character per UTF-8 byte, because git's `?` is one byte.
 */

type Token =
  | { readonly type: 'byte'; readonly code: number }
  /** Accepts the bytes marked in the table, `/` never. */
  | { readonly type: 'class'; readonly table: Uint8Array }
  | { readonly type: 'star' }
  /** Also swallows `/`. */
  | { readonly type: 'globstar' }
  /** Stands before a globstar and its slash, which may both be left out. */
  | { readonly type: 'optional-folders' };

export type IgnoreTokens = readonly Token[];

const SLASH = 0x2f;
const BYTES = 256;
const SKIPPED_BY_FORK = 3;

export function isSlash(token: Token): boolean {
  return token.type === 'byte' && token.code === SLASH;
}

/** Undefined for a pattern that can never match. */
export function parseIgnorePattern(pattern: string): IgnoreTokens | undefined {
  const tokens: Token[] = [];
  const literalLength = pattern.search(/[*?[\\]/);
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at);
    if (character === '*') at = readStars(pattern, at, { tokens, literalLength });
    else if (character === '?') {
      tokens.push({ type: 'class', table: allButSlash() });
      at += 1;
    } else if (character === '[') {
      const parsed = readClass(pattern, at + 1);
      if (parsed === undefined) return undefined;
      tokens.push({ type: 'class', table: parsed.table });
      at = parsed.next;
    } else {
      const from = character === '\\' ? at + 1 : at;
      // A backslash with nothing behind it matches nothing.
      if (from === pattern.length) return undefined;
      tokens.push({ type: 'byte', code: pattern.charCodeAt(from) });
      at = from + 1;
    }
  }
  return tokens;
}

interface Parsing {
  readonly tokens: Token[];
  readonly literalLength: number;
}

/** Two or more stars cross folders only between slashes; for git the first wildcard counts as behind a slash. */
function readStars(pattern: string, start: number, { tokens, literalLength }: Parsing): number {
  let end = start;
  while (pattern.charAt(end) === '*') end += 1;
  const startsSegment = start === literalLength || pattern.charAt(start - 1) === '/';
  const endsSegment = end === pattern.length || pattern.charAt(end) === '/' || pattern.startsWith('\\/', end);
  if (end - start === 1 || !startsSegment || !endsSegment) tokens.push({ type: 'star' });
  else {
    if (pattern.charAt(end) === '/') tokens.push({ type: 'optional-folders' });
    tokens.push({ type: 'globstar' });
  }
  return end;
}

function allButSlash(): Uint8Array {
  const table = new Uint8Array(BYTES).fill(1);
  table[SLASH] = 0;
  return table;
}

interface ParsedClass {
  readonly table: Uint8Array;
  readonly next: number;
}

/** Undefined for a class that never ends or names an unknown kind of character: git lets such a pattern match nothing. */
function readClass(pattern: string, start: number): ParsedClass | undefined {
  const negated = pattern.charAt(start) === '!' || pattern.charAt(start) === '^';
  const marked = new Uint8Array(BYTES);
  let at = negated ? start + 1 : start;
  let previous = -1;
  do {
    const item = readItem(pattern, at, previous);
    if (item === undefined) return undefined;
    for (let code = item.from; code <= item.to; code++) marked[code] = 1;
    for (const code of item.codes ?? []) marked[code] = 1;
    previous = item.previous;
    at = item.next;
  } while (pattern.charAt(at) !== ']');
  const table = marked.map((mark) => (negated ? 1 - mark : mark));
  table[SLASH] = 0;
  return { table, next: at + 1 };
}

interface ClassItem {
  readonly from: number;
  readonly to: number;
  readonly codes?: readonly number[];
  /** What a `-` behind it would range from; negative for nothing. */
  readonly previous: number;
  readonly next: number;
}

function readItem(pattern: string, at: number, previous: number): ClassItem | undefined {
  const character = pattern.charAt(at);
  if (character === '') return undefined;
  const following = pattern.charAt(at + 1);
  if (character === '-' && previous >= 0 && following !== '' && following !== ']') {
    const last = readMember(pattern, at + 1);
    return last === undefined ? undefined : { from: previous, to: last.code, previous: -1, next: last.next };
  }
  if (character === '[' && following === ':') return readNamedClass(pattern, at);
  const member = readMember(pattern, at);
  return member && { from: member.code, to: member.code, previous: member.code, next: member.next };
}

function readMember(pattern: string, at: number): { code: number; next: number } | undefined {
  const from = pattern.charAt(at) === '\\' ? at + 1 : at;
  return from < pattern.length ? { code: pattern.charCodeAt(from), next: from + 1 } : undefined;
}

function readNamedClass(pattern: string, at: number): ClassItem | undefined {
  const end = pattern.indexOf(']', at + 2);
  if (end < 0) return undefined;
  // Without `:]` it is an ordinary set that begins with a bracket.
  if (end === at + 2 || pattern.charAt(end - 1) !== ':') return { from: 0x5b, to: 0x5b, previous: 0x5b, next: at + 1 };
  const members = NAMED_CLASSES[pattern.slice(at + 2, end - 1)];
  if (members === undefined) return undefined;
  return { from: 1, to: 0, codes: asciiCodes(members), previous: -1, next: end + 1 };
}

const NAMED_CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

function asciiCodes(members: RegExp): readonly number[] {
  return Array.from({ length: 128 }, (_, code) => code).filter((code) => members.test(String.fromCharCode(code)));
}

export type IgnoreWild = (text: string) => boolean;

export function compileIgnoreWild(tokens: IgnoreTokens): IgnoreWild {
  const start = firstBytes(tokens);
  let here = new Places(tokens);
  let next = new Places(tokens);
  return (text) => {
    if (start !== undefined && start[text.charCodeAt(0)] !== 1) return false;
    here.clear();
    here.add(0);
    for (let at = 0; at < text.length && here.list.length > 0; at++) {
      next.clear();
      here.moveInto(next, text.charCodeAt(at));
      const passed = here;
      here = next;
      next = passed;
    }
    return here.has(tokens.length);
  };
}

/** Most texts fail at their first byte. Undefined when that may be any. */
function firstBytes(tokens: IgnoreTokens): Uint8Array | undefined {
  const [first] = tokens;
  if (first?.type === 'class') return first.table;
  return first?.type === 'byte' ? new Uint8Array(BYTES).fill(1, first.code, first.code + 1) : undefined;
}

/** Places in the pattern that have been reached, each at most once. */
class Places {
  readonly list: number[] = [];
  readonly #tokens: IgnoreTokens;
  readonly #isReached: Uint8Array;

  constructor(tokens: IgnoreTokens) {
    this.#tokens = tokens;
    this.#isReached = new Uint8Array(tokens.length + 1);
  }

  has(place: number): boolean {
    return this.#isReached[place] === 1;
  }

  clear(): void {
    for (const place of this.list) this.#isReached[place] = 0;
    this.list.length = 0;
  }

  /** With all that is reached from there without a byte. */
  add(place: number): void {
    if (this.#isReached[place] === 1) return;
    this.#isReached[place] = 1;
    this.list.push(place);
    const type = this.#tokens[place]?.type;
    if (type === 'star' || type === 'globstar') this.add(place + 1);
    else if (type === 'optional-folders') {
      this.add(place + 1);
      this.add(place + SKIPPED_BY_FORK);
    }
  }

  moveInto(next: Places, code: number): void {
    for (const place of this.list) {
      const token = this.#tokens[place];
      if (token === undefined) continue;
      if (token.type === 'byte') {
        if (token.code === code) next.add(place + 1);
      } else if (token.type === 'class') {
        if (token.table[code] === 1) next.add(place + 1);
      } else if (token.type === 'globstar' || (token.type === 'star' && code !== SLASH)) next.add(place);
    }
  }
}
