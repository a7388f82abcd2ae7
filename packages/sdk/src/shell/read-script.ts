/**
 * A command argument in sandboxed mode: a script for bash, or one command as a list of arguments.
 *
 * The text reaches bash as it was given. What is refused here is what no program can be given.
 */
import { type JsonValue, utf8Length } from '@tool-runtime/protocol';
import type { CommandList, ShellScript } from '../contracts/command-list.ts';
import { type ScriptView, seeArgv, seeScript } from './bash/see-commands.ts';
import { isWords, noCommand } from './read-command.ts';
import { shellRefusal } from './refusal.ts';

/** The kernel takes at most 128 KiB as one argument. */
export const MAX_SCRIPT_BYTES = 100 * 1024;

export function readScript(value: JsonValue): CommandList {
  if (typeof value === 'string') {
    requireText([value]);
    return asList({ text: value, words: [], ...pick(seeScript(value)) });
  }
  if (!isWords(value) || value.length === 0) throw noCommand();
  requireText(value);
  // Nothing of the words is read again: bash starts them as they are.
  return asList({ text: '"$@"', words: [...value], ...pick(seeArgv(value)) });
}

function asList(script: ShellScript): CommandList {
  return Object.freeze({ pipelines: [], script: Object.freeze(script) });
}

function pick({ seen, unseen }: ScriptView): ScriptView {
  return { seen, unseen };
}

function requireText(texts: readonly string[]): void {
  const bytes = texts.reduce((sum, text) => sum + utf8Length(text) + 1, -1);
  if (bytes > MAX_SCRIPT_BYTES) {
    throw shellRefusal(`Command is longer than ${MAX_SCRIPT_BYTES} bytes: ${bytes}`, {
      reason: 'too_long',
      next: 'put long input into a file or stdin',
    });
  }
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) {
    throw shellRefusal('Command holds a NUL or half of a surrogate pair', {
      reason: 'malformed_text',
      next: 'send well-formed text without NUL',
    });
  }
}
