/**
 * A command given as a list of words instead of a line: no quoting to read, the same judgement afterwards.
 *
 * Shell characters are plain text here, because no shell is started. What no command may hold stays refused.
 */
import { utf8Length } from '@tool-runtime/protocol';
import type { CommandList } from '../contracts/command-list.ts';
import { judgeCharacters, judgeSize } from './judge-characters.ts';
import { shellRefusal } from './refusal.ts';

/** Throws E_POLICY for an empty list, more than 8 KiB, and characters that no command may hold. */
export function parseArgv(argv: readonly string[]): CommandList {
  if (argv.length === 0) {
    throw shellRefusal('Command is empty: the list holds no word', {
      reason: 'empty_command',
      next: 'give the program as the first word',
    });
  }
  judgeSize(argv.reduce((bytes, word) => bytes + utf8Length(word) + 1, -1));
  for (const word of argv) judgeCharacters(word);
  return { pipelines: [{ operator: null, commands: [{ argv: [...argv], column: 1 }] }] };
}
