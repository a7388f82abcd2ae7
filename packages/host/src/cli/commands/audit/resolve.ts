/** audit resolve: the operator's word on a call whose outcome nobody knows, so that its key may be used again. */
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';

interface ResolveOptions extends SharedOptions {
  readonly as: string;
  readonly note: string;
}

export function addResolve(command: Command, done: Done): void {
  withRuntimeOptions(
    command.command('resolve').description('Decide a call that was cut off: it completed, or it never started'),
  )
    .argument('<call>', 'call id of an intent without a result')
    .requiredOption('--as <outcome>', 'completed or not_started')
    .requiredOption('--note <text>', 'how you know; goes into the journal')
    .action(async (call: string, options: ResolveOptions) => {
      const { as: outcome, note } = options;
      if (outcome !== 'completed' && outcome !== 'not_started')
        throw badUsage(`--as takes completed or not_started: ${outcome}`);
      await withRuntime(options, (runtime) => runtime.resolvePending(call, outcome, note));
      if (options.json === true) printJson({ call_id: call, resolved: outcome }, { compact: true });
      else printLine(`${call} counts as ${outcome} from now on`);
      done(0);
    });
}
