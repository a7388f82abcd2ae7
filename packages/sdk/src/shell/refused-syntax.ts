/** What a shell would do with a character outside quotes, and what to write instead. Data for the tokenizer. */
import type { ToolError } from '@tool-runtime/protocol';
import { shellRefusal } from './refusal.ts';

export interface SyntaxRefusal {
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

export const OPERATORS: Readonly<Record<'background' | 'pipeBoth' | 'caseEnd', SyntaxRefusal>> = {
  background: { reason: 'background', what: 'Background command', next: 'join commands with &&, ||, ; or |' },
  pipeBoth: { reason: 'pipe_stderr', what: 'Pipe of both streams', next: 'use |; standard error is returned anyway' },
  caseEnd: { reason: 'case_terminator', what: 'Double semicolon', next: 'use one ;' },
};

export const UNTERMINATED: SyntaxRefusal = {
  reason: 'unterminated_quote',
  what: 'Quote is never closed',
  next: 'close the quote; an apostrophe goes between double quotes',
};

/** `word` is what comes before the character, quotes resolved: empty does not mean first (`""~` is no tilde). */
export function refusedOutside(
  text: string,
  at: number,
  word: { isStart: boolean; last: string },
): SyntaxRefusal | undefined {
  const character = text.charAt(at);
  if (character === '$' && text[at + 1] === '(') return SUBSTITUTION;
  if (word.isStart && AT_START.has(character)) return AT_START.get(character);
  // A shell also expands the tilde of `NAME=~` and `NAME=a:~`, arguments included.
  if (character === '~' && (word.last === '=' || word.last === ':')) return AT_START.get('~');
  return OUTSIDE.get(character);
}

export function refusedInDouble(text: string, at: number): SyntaxRefusal | undefined {
  if (text[at] === '$' && text[at + 1] === '(') return SUBSTITUTION;
  return IN_DOUBLE.get(text.charAt(at));
}

export function syntaxError(refusal: SyntaxRefusal, character: string, position: number): ToolError {
  const { reason, what, next } = refusal;
  return shellRefusal(`${what} is not allowed in a command: ${character} at column ${position}`, {
    reason,
    character,
    position,
    next,
  });
}
