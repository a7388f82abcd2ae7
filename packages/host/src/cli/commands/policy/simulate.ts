/** policy simulate: what another registry would have answered to the calls on record. */
import type { PolicySimulation } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { sinceTime } from '../../option-values.ts';
import { readRegistry } from './read-registry.ts';

interface SimulateOptions extends SharedOptions {
  readonly with: string;
  readonly since?: number;
}

export function addSimulate(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('simulate')
      .description('Judge every recorded call again under another registry (exit 0 when nothing changes, else 1)'),
  )
    .requiredOption('--with <file>', 'the other registry')
    .option('--since <time>', 'only calls since then: 7d, 12h, 30m, or a date such as 2026-11-01', sinceTime('--since'))
    .action(async ({ with: file, since, ...options }: SimulateOptions) => {
      const registry = readRegistry(file);
      const { withRuntime } = await import('../../open-runtime.ts');
      const simulation = await withRuntime(options, (runtime) =>
        runtime.policy.simulate({ registry, ...(since === undefined ? {} : { since }) }),
      );
      if (options.json === true) printJson(simulation, { compact: true });
      else showSimulation(simulation);
      done(simulation.changed === 0 ? 0 : 1);
    });
}

function showSimulation({ changed, calls, judged, groups, not_judged }: PolicySimulation): void {
  for (const { tool, from, to, count, examples } of groups) {
    printLine(`${String(count).padStart(6)}  ${from.padEnd(5)} → ${paint('bold', to.padEnd(5))} ${plainText(tool)}`);
    for (const { summary, registry, message, code } of examples) {
      const line = registry === undefined ? '' : ` (${registry})`;
      printLine(paint('dim', `          ${plainText(summary)} – ${plainText(message ?? code)}${plainText(line)}`));
    }
  }
  for (const { reason, count, call_ids } of not_judged) {
    printLine(
      `${String(count).padStart(6)}  not judged: ${reason}: ${plainText(call_ids.slice(0, 3).join(', '))}${count > 3 ? ', …' : ''}`,
    );
  }
  printLine(`${changed} of ${judged} judged calls change; ${calls} calls are on record`);
}
