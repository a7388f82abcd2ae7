/** What the journal keeps of a script: the commands seen in it, and the parts that could not be seen. */
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { ShellScript } from '../../contracts/command-list.ts';
import type { CheckedCommand } from '../../contracts/rule.ts';
import type { Redactor } from '../../redaction/redactor.ts';

const MAX_LISTED = 50;
const MAX_TEXT = 200;

/** Undefined for calls without a script. */
export function commandFacts(commands: readonly CheckedCommand[], redactor: Redactor): JsonObject | undefined {
  for (const command of commands) {
    const script = scriptOf(command);
    if (script !== undefined) return factsOf(script, (text) => safeText(redactor.redactCommand(text), MAX_TEXT));
  }
  return undefined;
}

/** What cannot be read is refused later, by the rule that checks it. */
function scriptOf({ list }: CheckedCommand): ShellScript | undefined {
  try {
    return list().script;
  } catch (thrown) {
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}

function factsOf({ seen, unseen }: ShellScript, show: (text: string) => string): JsonObject {
  return {
    commands: seen.slice(0, MAX_LISTED).map(({ text }) => show(text)),
    ...(seen.length > MAX_LISTED ? { more_commands: seen.length - MAX_LISTED } : {}),
    ...(unseen.length === 0
      ? {}
      : { unseen: unseen.slice(0, MAX_LISTED).map(({ reason, text }) => ({ reason, text: show(text) })) }),
    ...(unseen.length > MAX_LISTED ? { more_unseen: unseen.length - MAX_LISTED } : {}),
  };
}
