/** A command argument as callers give it, a line or a list of arguments, as the command list that is checked and started. */
import { type JsonValue, ToolError, utf8Length } from '@tool-runtime/protocol';
import type { CommandList } from '../contracts/command-list.ts';
import { judgeCharacters, judgeSize } from './judge-characters.ts';
import { parseCommandLine } from './parse-command-line.ts';
import { shellRefusal } from './refusal.ts';

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
