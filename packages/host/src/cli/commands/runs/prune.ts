/** runs prune: removes old runs. One that may still be going on stays. */
import type { PruneRunsReport } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
import { wholeNumber } from '../../whole-number.ts';
import { daysToMs } from '../audit/days.ts';

interface PruneOptions extends SharedOptions {
  readonly olderThan: number;
  readonly keep?: number;
  readonly failedOnly?: boolean;
  readonly dryRun?: boolean;
}

export function addPrune(command: Command, done: Done): void {
  withSharedOptions(command.command('prune').description('Remove old runs; the journal keeps what it has of them'))
    .requiredOption('--older-than <days>', 'only runs older than that', wholeNumber('--older-than', 0))
    .option('--keep <count>', 'the newest so many of each tool stay', wholeNumber('--keep', 0))
    .option('--failed-only', 'only runs that failed or were cut off')
    .option('--dry-run', 'remove nothing, say what would go')
    .action(async (options: PruneOptions) => {
      const report = await prune(options);
      if (options.json === true) printJson({ dry_run: options.dryRun === true, ...report }, { compact: true });
      else printReport(report, options);
      done(report.skipped.length === 0 ? 0 : 1);
    });
}

async function prune(options: PruneOptions): Promise<PruneRunsReport> {
  const [{ pruneRuns }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('../../state-of.ts'),
  ]);
  const { olderThan, keep, failedOnly, dryRun } = options;
  return withRuntime(options, ({ registry }) =>
    pruneRuns({ state: stateOf(options), registry, olderThanMs: daysToMs(olderThan), keep, failedOnly, dryRun }),
  );
}

function printReport({ removed, bytes, running, skipped }: PruneRunsReport, { dryRun }: PruneOptions): void {
  if (dryRun === true) for (const run of removed) printLine(plainText(run));
  const verb = dryRun === true ? 'would be removed' : 'removed';
  const rest = running === 0 ? '' : `; ${running} may be running still`;
  printLine(`${removed.length} ${removed.length === 1 ? 'run' : 'runs'} ${verb}, ${bytes} bytes${rest}`);
  for (const { run_dir, reason } of skipped) showWarning(`${run_dir} stays: ${reason}`);
}
