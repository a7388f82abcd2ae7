/** policy check: whether the examples of the registry hold. For CI: exit 1 when one does not. */
import type { PolicyCheck } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

export function addCheck(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('check')
      .description('Judge the calls that the registry lists under allow, ask and deny (exit 1 when one does not hold)'),
  ).action(async (options: SharedOptions) => {
    const { withRuntime } = await import('../../open-runtime.ts');
    const check = await withRuntime({ ...options, examples: 'ignore' }, (runtime) => runtime.policy.check());
    if (options.json === true) printJson(check, { compact: true });
    else showCheck(check);
    done(check.ok ? 0 : 1);
  });
}

function showCheck({ ok, examples, failed, results }: PolicyCheck): void {
  for (const { holds, registry, message = '' } of results) {
    if (!holds) printLine(`${paint('red', 'failed')} ${plainText(registry)} ${plainText(message)}`);
  }
  printLine(ok ? `${paint('green', 'ok')} ${examples} examples hold` : `${failed} of ${examples} examples do not hold`);
}
