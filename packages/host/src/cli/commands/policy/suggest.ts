/** policy suggest: the narrowest registry that would have allowed what was recorded and approved, as YAML on stdout. */
import type { Command } from 'commander';
import { printJson, showWarning } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { sinceTime } from '../../option-values.ts';

interface SuggestOptions extends SharedOptions {
  readonly since?: number;
}

export function addSuggest(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('suggest')
      .description('Print the narrowest registry that would have allowed the recorded calls that ran or were approved'),
  )
    .addOption(command.createOption('--from <source>', 'what it is made from').choices(['journal']).default('journal'))
    .option('--since <time>', 'only calls since then: 7d, 12h, 30m, or a date such as 2026-11-01', sinceTime('--since'))
    .action(async ({ since, ...options }: SuggestOptions) => {
      const { withRuntime } = await import('../../open-runtime.ts');
      const suggestion = await withRuntime(options, (runtime) =>
        runtime.policy.suggest(since === undefined ? {} : { since }),
      );
      if (options.json === true) printJson(suggestion, { compact: true });
      else {
        process.stdout.write(suggestion.registry);
        for (const { reason, count } of suggestion.left_out) showWarning(`${count} calls are left out: ${reason}`);
      }
      done(0);
    });
}
