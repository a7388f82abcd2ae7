/**
 * A command line as words and operators.
 *
 * Reads the part of the shell language in which a word means its own text, as bash reads it, and refuses the rest.
 */
import { OPERATORS, refusedInDouble, refusedOutside, syntaxError, UNTERMINATED } from './refused-syntax.ts';

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
