/**
 * The only parser of command lines: plain commands joined by `&&`, `||`, `;` and `|`, nothing else.
 *
 * No shell ever sees the text. What comes out is what is checked and what is started, so there is no second reading of
 * the line that could disagree with the first.
 */
import { isToolError, type ToolError, utf8Length } from '@tool-runtime/protocol';
import type { CommandList, ListOperator, Pipeline, SimpleCommand } from '../contracts/command-list.ts';
import { judgeCharacters, judgeSize } from './judge-characters.ts';
import { type Operator, readTokens, type Token, type Word } from './read-tokens.ts';
import { shellRefusal } from './refusal.ts';
import { strictAdvice } from './strict-advice.ts';

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

/** Throws E_POLICY with `reason`, `character`, `position` and `next` for everything that is not a list of plain commands. */
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
