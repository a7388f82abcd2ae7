/**
 * A command line as words and operators.
 *
 * Reads the part of the shell language in which a word means its own text, as bash reads it, and refuses the rest.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { shellRefusal } from './refusal.ts';

export interface Word {
  readonly kind: 'word';
  readonly value: string;
  /** As written, quotes included: `"if"` is a program, `if` is not. */
  readonly raw: string;
  readonly column: number;
}

export interface Operator {
  readonly kind: 'operator';
  readonly value: '&&' | '||' | ';' | '|';
  readonly column: number;
}

export type Token = Word | Operator;

/** A piece of a word and the index after it. */
interface Piece {
  readonly value: string;
  readonly end: number;
}

const BORDER = ' \t&|;';

function readSingle(text: string, start: number): Piece {
  const close = text.indexOf("'", start + 1);
  if (close === -1) throw syntaxError(UNTERMINATED, "'", start + 1);
  return { value: text.slice(start + 1, close), end: close + 1 };
}

function readDouble(text: string, start: number): Piece {
  let value = '';
  let at = start + 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '"') return { value, end: at + 1 };
    const escaped = character === '\\' ? text[at + 1] : undefined;
    if (escaped === '"' || escaped === '\\') {
      value += escaped;
      at += 2;
      continue;
    }
    const refusal = refusedInDouble(text, at);
    if (refusal !== undefined) throw syntaxError(refusal, character, at + 1);
    value += character;
    at++;
  }
  throw syntaxError(UNTERMINATED, '"', start + 1);
}

function readWord(text: string, start: number): Word {
  let value = '';
  let at = start;
  while (at < text.length && !BORDER.includes(text.charAt(at))) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      const piece = character === "'" ? readSingle(text, at) : readDouble(text, at);
      value += piece.value;
      at = piece.end;
      continue;
    }
    const refusal = refusedOutside(text, at, { isStart: at === start, last: value.slice(-1) });
    if (refusal !== undefined) throw syntaxError(refusal, character, at + 1);
    value += character;
    at++;
  }
  return { kind: 'word', value, raw: text.slice(start, at), column: start + 1 };
}

function readOperator(text: string, at: number): Operator {
  const column = at + 1;
  const pair = text.slice(at, at + 2);
  if (pair === '&&' || pair === '||') return { kind: 'operator', value: pair, column };
  if (pair === '|&') throw syntaxError(OPERATORS.pipeBoth, pair, column);
  if (pair === ';;') throw syntaxError(OPERATORS.caseEnd, pair, column);
  const character = text.charAt(at);
  if (character === '|' || character === ';') return { kind: 'operator', value: character, column };
  throw syntaxError(OPERATORS.background, '&', column);
}

/** Throws E_POLICY with the character, its column and what to write instead. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === ' ' || character === '\t') {
      at++;
    } else if (BORDER.includes(character)) {
      const operator = readOperator(text, at);
      tokens.push(operator);
      at += operator.value.length;
    } else {
      const word = readWord(text, at);
      tokens.push(word);
      at += word.raw.length;
    }
  }
  return tokens;
}

interface SyntaxRefusal {
  readonly reason: string;
  readonly what: string;
  readonly next: string;
}

const QUOTE_IT = 'put the word in single quotes if the character is meant literally';
const NO_EXPANSION = 'write the value itself, or put the word in single quotes if the character is meant literally';

const EXPANSION = { reason: 'expansion', what: 'Variable expansion', next: NO_EXPANSION };
const SUBSTITUTION = { reason: 'substitution', what: 'Command substitution', next: NO_EXPANSION };
const SUBSHELL = { reason: 'subshell', what: 'Subshell or group', next: QUOTE_IT };
const BRACES = { reason: 'braces', what: 'Brace', next: `list the arguments one by one, or ${QUOTE_IT}` };
const REDIRECTION = {
  reason: 'redirection',
  what: 'Redirection',
  next: 'use stdin and the returned output instead, or a file tool',
};
const GLOB = { reason: 'glob', what: 'Wildcard outside quotes', next: `list the files, or ${QUOTE_IT}` };
const BACKSLASH = {
  reason: 'backslash',
  what: 'Backslash outside quotes',
  next: 'put the argument in single quotes; in double quotes only \\" and \\\\ are known',
};

/** Refused anywhere outside quotes. */
const OUTSIDE: ReadonlyMap<string, SyntaxRefusal> = new Map([
  ['$', EXPANSION],
  ['`', SUBSTITUTION],
  ['(', SUBSHELL],
  [')', SUBSHELL],
  ['{', BRACES],
  ['}', BRACES],
  ['<', REDIRECTION],
  ['>', REDIRECTION],
  ['*', GLOB],
  ['?', GLOB],
  ['[', GLOB],
  ['\\', BACKSLASH],
]);

/** Refused as the first character of a word. */
const AT_START: ReadonlyMap<string, SyntaxRefusal> = new Map([
  ['#', { reason: 'comment', what: 'Comment', next: QUOTE_IT }],
  ['~', { reason: 'tilde', what: 'Tilde', next: 'write a path inside the workspace' }],
  ['!', { reason: 'negation', what: 'Exclamation mark at the start of a word', next: QUOTE_IT }],
]);

/** Refused inside double quotes. */
const IN_DOUBLE: ReadonlyMap<string, SyntaxRefusal> = new Map([
  ['$', EXPANSION],
  ['`', SUBSTITUTION],
  ['\\', { ...BACKSLASH, what: 'Backslash before anything but " and \\' }],
]);

const OPERATORS: Readonly<Record<'background' | 'pipeBoth' | 'caseEnd', SyntaxRefusal>> = {
  background: { reason: 'background', what: 'Background command', next: 'join commands with &&, ||, ; or |' },
  pipeBoth: { reason: 'pipe_stderr', what: 'Pipe of both streams', next: 'use |; standard error is returned anyway' },
  caseEnd: { reason: 'case_terminator', what: 'Double semicolon', next: 'use one ;' },
};

const UNTERMINATED: SyntaxRefusal = {
  reason: 'unterminated_quote',
  what: 'Quote is never closed',
  next: 'close the quote; an apostrophe goes between double quotes',
};

/**
 * What a shell would do with a character outside quotes, and what to write instead. Data for the tokenizer.
 *
 * `word` is what comes before the character, quotes resolved: empty does not mean first (`""~` is no tilde).
 */
function refusedOutside(text: string, at: number, word: { isStart: boolean; last: string }): SyntaxRefusal | undefined {
  const character = text.charAt(at);
  if (character === '$' && text[at + 1] === '(') return SUBSTITUTION;
  if (word.isStart && AT_START.has(character)) return AT_START.get(character);
  // A shell also expands the tilde of `NAME=~` and `NAME=a:~`, arguments included.
  if (character === '~' && (word.last === '=' || word.last === ':')) return AT_START.get('~');
  return OUTSIDE.get(character);
}

function refusedInDouble(text: string, at: number): SyntaxRefusal | undefined {
  if (text[at] === '$' && text[at + 1] === '(') return SUBSTITUTION;
  return IN_DOUBLE.get(text.charAt(at));
}

function syntaxError(refusal: SyntaxRefusal, character: string, position: number): ToolError {
  const { reason, what, next } = refusal;
  return shellRefusal(`${what} is not allowed in a command: ${character} at column ${position}`, {
    reason,
    character,
    position,
    next,
  });
}
