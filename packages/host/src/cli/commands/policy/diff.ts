/** policy diff: what two registries answer differently, in terms of tools, paths, commands and hosts. */
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { readRegistry } from './read-registry.ts';

export function addDiff(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('diff')
      .description(
        'Compare two registries by what they allow, ask about and deny (exit 0 when nothing differs, else 1)',
      ),
  )
    .argument('<a>', 'a registry')
    .argument('<b>', 'the other one')
    .action(async (a: string, b: string, options: SharedOptions) => {
      const [one, other] = [readRegistry(a), readRegistry(b)];
      const { withRuntime } = await import('../../open-runtime.ts');
      const diff = await withRuntime(options, (runtime) => runtime.policy.diff(one, other));
      if (options.json === true) printJson(diff, { compact: true });
      else {
        for (const { kind, subject, from, to, registry } of diff.changes) {
          const line = registry === undefined ? '' : paint('dim', ` (${plainText(registry)})`);
          printLine(
            `${kind.padEnd(8)} ${plainText(subject)}: ${plainText(from)} → ${paint('bold', plainText(to))}${line}`,
          );
        }
        printLine(diff.changed === 0 ? 'no difference was found' : `${diff.changed} differences`);
      }
      done(diff.changed === 0 ? 0 : 1);
    });
}
