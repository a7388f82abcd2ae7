/** A command argument as callers give it, a line or a list of words, as the command list that is judged and started. */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { CommandList } from '../contracts/command-list.ts';
import { parseArgv } from './parse-argv.ts';
import { parseCommandLine } from './parse-command-line.ts';

export function readCommand(value: JsonValue): CommandList {
  if (typeof value === 'string') return parseCommandLine(value);
  if (isWords(value)) return parseArgv(value);
  throw new ToolError('E_VALIDATION_FAIL', 'Command is neither a line nor a list of words', {
    details: { next: 'give cmd as text or argv as an array of texts' },
  });
}

function isWords(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
