/**
 * How much of a command an allowlist pattern spells out.
 *
 * A pattern that names a program lets every option through. What makes an allowed program dangerous is let through only
 * by a pattern whose author demonstrably meant it: one that ends with `$` and has the option written out in it.
 */

/** Between pieces of text that do not touch. No command can hold it. */
const GAP = '\u0000';

function topAlternatives(tokens: readonly PatternToken[]): PatternToken[][] {
  const alternatives: PatternToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'open') depth++;
    if (token.kind === 'close') depth--;
    if (token.kind === 'bar' && depth === 0) alternatives.push([]);
    else if (token.kind !== 'flags') alternatives.at(-1)?.push(token);
  }
  return alternatives;
}

/** Whether every alternative begins with `^` and ends with `$`, so that nothing can follow what it describes. */
export function isFullyAnchored(source: string): boolean {
  return topAlternatives(readPattern(source)).every(
    (alternative) => alternative.at(0)?.kind === 'start' && alternative.at(-1)?.kind === 'end',
  );
}

/** The only text a pattern matches, when it is `^`, plain text and `$`. */
export function literalOf(source: string): string | undefined {
  const tokens = readPattern(source);
  const inner = tokens.slice(1, -1);
  if (tokens.at(0)?.kind !== 'start' || tokens.at(-1)?.kind !== 'end') return undefined;
  return inner.every(({ kind }) => kind === 'literal') ? inner.map(({ text }) => text).join('') : undefined;
}

/** What the pattern spells out. A repeated character counts once if it must occur, else not at all. */
function spelledText(source: string): string {
  let text = '';
  for (const token of readPattern(source)) {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'blank') text += ' ';
    else if (token.kind === 'repeat' && token.text === '+') continue;
    else if (token.kind === 'repeat') text = text.slice(0, -1) + GAP;
    else text += GAP;
  }
  return text;
}

/** Whether `words` are in the pattern letter by letter, as whole words. */
export function spellsOut(source: string, words: string): boolean {
  const text = `${GAP}${spelledText(source)}${GAP}`;
  const isBorder = (character: string | undefined) => character === ' ' || character === GAP;
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
    if (isBorder(text[at - 1]) && isBorder(text[at + words.length])) return true;
  }
  return false;
}

/** The program a pattern speaks about, as far as it is spelled out. */
export function programOf(source: string): string {
  const literals = topAlternatives(readPattern(source))[0]?.slice(1) ?? [];
  const end = literals.findIndex(({ kind, text }) => kind !== 'literal' || !/[A-Za-z0-9._+-]/.test(text));
  return literals
    .slice(0, end === -1 ? undefined : end)
    .map(({ text }) => text)
    .join('');
}

type PatternTokenKind = 'literal' | 'blank' | 'start' | 'end' | 'open' | 'close' | 'bar' | 'flags' | 'repeat' | 'other';

interface PatternToken {
  readonly kind: PatternTokenKind;
  /** The text a literal stands for; else the source of the part. */
  readonly text: string;
}

interface Cut {
  readonly token: PatternToken;
  readonly length: number;
}

const SINGLE: Readonly<Record<string, PatternTokenKind>> = {
  '^': 'start',
  $: 'end',
  ')': 'close',
  '|': 'bar',
  '.': 'other',
  '*': 'repeat',
  '+': 'repeat',
  '?': 'repeat',
};
const ESCAPES: Readonly<Record<string, PatternTokenKind>> = { s: 'blank', z: 'end', A: 'start' };
const GROUP = /^\((?:\?(?:P?<[^>]*>|[A-Za-z-]*:))?/;
const FLAGS = /^\(\?[A-Za-z-]*\)/;
const REPEAT = /^\{\d+(?:,\d*)?\}/;
const LONG_ESCAPE = /^\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|[0-7]{1,3})/;
const CLASS = /^\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]/;

function cut(kind: PatternTokenKind, source: string, text = source): Cut {
  return { token: { kind, text }, length: source.length };
}

function cutEscape(rest: string): Cut {
  const long = LONG_ESCAPE.exec(rest);
  if (long !== null) return cut('other', long[0]);
  const pair = rest.slice(0, 2);
  const escaped = pair.slice(1);
  const kind = Object.hasOwn(ESCAPES, escaped) ? ESCAPES[escaped] : undefined;
  if (kind !== undefined) return cut(kind, pair);
  return /[A-Za-z0-9]/.test(escaped) ? cut('other', pair) : cut('literal', pair, escaped);
}

function cutOne(rest: string): Cut {
  const character = rest.charAt(0);
  if (character === '\\') return cutEscape(rest);
  if (character === '[') return cut('other', CLASS.exec(rest)?.[0] ?? rest);
  if (character === '(') {
    const flags = FLAGS.exec(rest);
    return flags === null ? cut('open', GROUP.exec(rest)?.[0] ?? character) : cut('flags', flags[0]);
  }
  const repeat = character === '{' ? REPEAT.exec(rest) : null;
  if (repeat !== null) return cut('repeat', repeat[0]);
  const kind = Object.hasOwn(SINGLE, character) ? SINGLE[character] : undefined;
  return cut(kind ?? 'literal', character);
}

/** `\Q…\E` stands for its text, character by character. */
function cutQuotation(rest: string): { readonly tokens: PatternToken[]; readonly length: number } {
  const end = rest.indexOf('\\E', 2);
  const text = rest.slice(2, end === -1 ? undefined : end);
  return {
    tokens: text.split('').map((character) => ({ kind: 'literal', text: character })),
    length: end === -1 ? rest.length : end + 2,
  };
}

/**
 * An allowlist pattern cut into its parts, as far as needed to see what the operator wrote out and how it ends.
 *
 * Made for patterns the engine accepts. A part it does not know counts as `other`, which proves nothing to anyone:
 * a slip here can refuse too much, never allow.
 */
function readPattern(source: string): PatternToken[] {
  const tokens: PatternToken[] = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    if (rest.startsWith('\\Q')) {
      const quotation = cutQuotation(rest);
      tokens.push(...quotation.tokens);
      at += quotation.length;
      continue;
    }
    const { token, length } = cutOne(rest);
    tokens.push(token);
    at += length;
  }
  return tokens;
}
