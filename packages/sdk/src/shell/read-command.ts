/** A command argument as callers give it, a line or a list of arguments, as the command list that is checked and started. */
import { isToolError, type JsonValue, ToolError, utf8Length } from '@tool-runtime/protocol';
import type { CommandList, ListOperator, Pipeline, SimpleCommand } from '../contracts/command-list.ts';
import { type Operator, readTokens, type Token, type Word } from './read-tokens.ts';
import { shellRefusal } from './refusal.ts';
import { strictAdvice } from './strict-advice.ts';

export function readCommand(value: JsonValue): CommandList {
  if (typeof value === 'string') return parseCommandLine(value);
  if (isWords(value)) return parseArgv(value);
  throw noCommand();
}

export function noCommand(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Command is neither a line nor a list of arguments', {
    details: { next: 'give cmd as text or argv as an array of texts' },
  });
}

export function isWords(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

/** Throws E_POLICY for an empty list, more than 8 KiB, and characters that no command may hold. */
export function parseArgv(argv: readonly string[]): CommandList {
  if (argv.length === 0) {
    throw shellRefusal('Command is empty: the list has no entries', {
      reason: 'empty_command',
      next: 'give the program as the first argument',
    });
  }
  judgeSize(argv.reduce((bytes, word) => bytes + utf8Length(word) + 1, -1));
  for (const word of argv) judgeCharacters(word);
  return { pipelines: [{ operator: null, commands: [{ argv: [...argv], column: 1 }] }] };
}

const MAX_COMMAND_BYTES = 8192;

interface Judgement {
  readonly reason: string;
  readonly what: string;
  readonly next: string;
}

const NEXT_COMMAND = 'give one line; join commands with &&, ||, ; or |';

function judge(character: string): Judgement {
  if (character === '\n' || character === '\r') {
    return { reason: 'newline', what: 'Line break', next: NEXT_COMMAND };
  }
  if (/\p{Cc}/u.test(character)) {
    return { reason: 'control_character', what: 'Control character', next: 'leave it out' };
  }
  if (/\p{Cs}/u.test(character)) {
    return { reason: 'malformed_text', what: 'Half of a surrogate pair', next: 'send well-formed Unicode' };
  }
  if (/\p{Z}/u.test(character)) {
    return { reason: 'foreign_blank', what: 'Blank that is not U+0020', next: 'separate arguments with plain spaces' };
  }
  return { reason: 'invisible_character', what: 'Invisible character', next: 'leave it out' };
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Characters that no command may hold, quoted or not: programs, patterns and readers disagree about them.
 *
 * A regular expression's `\s` takes a no-break space for a border where no shell splits, a carriage return hides the
 * half of a line from its reader, and a NUL ends the text for the kernel but not for us.
 *
 * Throws E_POLICY naming the first such character and its column (from 1, in UTF-16 units).
 */
export function judgeCharacters(text: string): void {
  // Controls, half pairs, every blank but U+0020 and tab, and everything that shows as nothing.
  const found = /(?![ \t])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u.exec(text);
  if (found === null) return;
  const { reason, what, next } = judge(found[0]);
  const character = codePoint(found[0]);
  const position = found.index + 1;
  throw shellRefusal(`${what} is not allowed in a command: ${character} at column ${position}`, {
    reason,
    character,
    position,
    next,
  });
}

/** Throws E_POLICY for more than 8 KiB. */
export function judgeSize(bytes: number): void {
  if (bytes <= MAX_COMMAND_BYTES) return;
  throw shellRefusal(`Command is longer than ${MAX_COMMAND_BYTES} bytes: ${bytes}`, {
    reason: 'too_long',
    next: 'put long input into a file or stdin',
  });
}

export const MAX_COMMANDS = 50;

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const RESERVED: ReadonlySet<string> = new Set(
  'if then elif else fi for while until select do done case esac in function time coproc'.split(' '),
);

function judgeFirstWord(word: Word): void {
  const position = word.column;
  if (ASSIGNMENT.test(word.raw)) {
    // Only the name: what is assigned is often a secret.
    const name = word.raw.slice(0, word.raw.indexOf('=') + 1);
    throw shellRefusal(`Assignment before a command is not allowed: ${name} at column ${position}`, {
      reason: 'assignment',
      character: '=',
      position,
      next: 'give variables in env',
    });
  }
  if (RESERVED.has(word.raw)) {
    throw shellRefusal(`Shell keyword is not allowed: ${word.raw} at column ${position}`, {
      reason: 'reserved_word',
      character: word.raw,
      position,
      next: 'give plain commands joined by &&, ||, ; or |; put loops and conditions into a script of the workspace',
    });
  }
}

function emptyCommand(where: string, character: string, position: number): never {
  throw shellRefusal(`Command is empty: ${where}`, {
    reason: 'empty_command',
    character,
    position,
    next: 'write a command on both sides of every operator; only ; may end the line',
  });
}

function tooMany(commands: number): never {
  throw shellRefusal(`More than ${MAX_COMMANDS} commands in one line: ${commands}`, {
    reason: 'too_many_commands',
    next: 'split the line into several calls, or put it into a script of the workspace',
  });
}

/** Gathers tokens into pipelines. State lives for one line. */
function createBuilder() {
  const pipelines: Pipeline[] = [];
  let operator: ListOperator | null = null;
  let commands: SimpleCommand[] = [];
  let argv: string[] = [];
  let column = 0;
  let count = 0;

  function endCommand(): void {
    commands.push({ argv, column });
    argv = [];
    count++;
  }

  function endPipeline(): void {
    endCommand();
    pipelines.push({ operator, commands });
    commands = [];
  }

  return {
    addWord(word: Word): void {
      if (argv.length === 0) {
        judgeFirstWord(word);
        column = word.column;
      }
      argv.push(word.value);
    },
    addOperator(token: Operator): void {
      if (argv.length === 0)
        emptyCommand(`nothing before ${token.value} at column ${token.column}`, token.value, token.column);
      if (token.value === '|') {
        endCommand();
        return;
      }
      endPipeline();
      operator = token.value;
    },
    finish(last: Token | undefined): CommandList {
      if (last === undefined) emptyCommand('the line holds no command', '', 1);
      if (last.kind === 'word') endPipeline();
      else if (last.value !== ';')
        emptyCommand(`nothing after ${last.value} at column ${last.column}`, last.value, last.column);
      if (count > MAX_COMMANDS) tooMany(count);
      return { pipelines };
    },
  };
}

/**
 * The only parser of command lines: plain commands joined by `&&`, `||`, `;` and `|`, nothing else.
 *
 * No shell ever sees the text. What comes out is what is checked and what is started, so there is no second reading of
 * the line that could disagree with the first.
 *
 * Throws E_POLICY with `reason`, `character`, `position` and `next` for everything that is not a list of plain commands.
 */
export function parseCommandLine(text: string): CommandList {
  judgeSize(utf8Length(text));
  try {
    return readList(text);
  } catch (thrown) {
    throw isToolError(thrown) ? withAdvice(thrown, text) : thrown;
  }
}

/** The refusal of one character, with what to do about the line. */
function withAdvice(refusal: ToolError, text: string): ToolError {
  const { reason, next } = refusal.details;
  if (typeof reason !== 'string' || typeof next !== 'string') return refusal;
  return shellRefusal(refusal.message, { ...refusal.details, reason, next: strictAdvice(text, { reason, next }) });
}

function readList(text: string): CommandList {
  judgeCharacters(text);
  const tokens = readTokens(text);
  const builder = createBuilder();
  for (const token of tokens) {
    if (token.kind === 'word') builder.addWord(token);
    else builder.addOperator(token);
  }
  return builder.finish(tokens.at(-1));
}
