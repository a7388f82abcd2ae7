/** `commands`: the programs that steps and rules run. */
import { z } from 'zod';
import type { Registry } from '../../contracts/registry.ts';
import { bareTable } from '../freeze.ts';
import type { Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { commandText, nameText } from '../texts.ts';

export const commands = defineSection({
  keys: {
    commands: z
      .record(nameText, commandText)
      .default({})
      .describe(
        'Step (build, lint, fmt, format, test) or rule id → command; lint.fix and the like are proposed, never run. format reads text on standard input, is given the file name as last argument and prints the text formatted; format.<language> and build.<language> are for files of one language',
      ),
  },
  build: (written) => ({ commands: bareTable(Object.entries(written.commands)) }),
  narrow: (narrowing) => ({ commands: narrowCommands(narrowing) }),
  needs: (written) => (Object.keys(written.commands).length > 0 ? 'process_exec' : undefined),
});

/** A command is a program to run: only the host names those, and where both do the host's is used. */
function narrowCommands({ host, session, overreach, notes }: Narrowing): Registry['commands'] {
  for (const [name, command] of Object.entries(session.commands)) {
    const path = `commands.${name}`;
    if (!Object.hasOwn(host.commands, name)) {
      overreach.push({ path, message: `Command is not one of the host's: ${name}` });
    } else if (host.commands[name] !== command) {
      notes.push({ path, message: `Command of the host is used instead: ${name}` });
    }
  }
  return host.commands;
}
