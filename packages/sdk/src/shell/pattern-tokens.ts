/**
 * An allowlist pattern cut into its parts, as far as needed to see what the operator wrote out and how it ends.
 *
 * Made for patterns the engine accepts. A part it does not know counts as `other`, which proves nothing to anyone:
 * a slip here can refuse too much, never allow.
 */

export type PatternTokenKind =
  | 'literal'
  | 'blank'
  | 'start'
  | 'end'
  | 'open'
  | 'close'
  | 'bar'
  | 'flags'
  | 'repeat'
  | 'other';

export interface PatternToken {
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

export function readPattern(source: string): PatternToken[] {
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
