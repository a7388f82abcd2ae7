/** audit prune: deletes archives that need not be kept, oldest first. */
import type { PruneReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { plainText } from '../../../terminal/plain-text.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
import { wholeNumber } from '../../whole-number.ts';
import { daysToMs } from './days.ts';

interface PruneOptions extends SharedOptions {
  readonly keepDays?: number;
  readonly keepArchives?: number;
  readonly answersKeepDays?: number;
}

export function addPrune(command: Command, done: Done): void {
  withRuntimeOptions(command.command('prune').description('Delete archives that need not be kept, oldest first'))
    .option('--keep-days <days>', 'delete archives with no record younger than that', wholeNumber('--keep-days', 0))
    .option('--keep-archives <count>', 'delete all but the newest so many', wholeNumber('--keep-archives', 0))
    .option(
      '--answers-keep-days <days>',
      'forget answers of idempotency keys older than that; repeating such a key runs the call again',
      wholeNumber('--answers-keep-days', 0),
    )
    .action(async (options: PruneOptions) => {
      const limits = limitsOf(options);
      const report = await withRuntime(options, (runtime) => runtime.pruneJournal(limits));
      if (options.json === true) printJson(report, { compact: true });
      else printLine(describe(report));
      done(0);
    });
}

/** Nothing is deleted for good by a command that does not say what to keep. */
function limitsOf({ keepDays, keepArchives, answersKeepDays }: PruneOptions) {
  if (keepDays === undefined && keepArchives === undefined && answersKeepDays === undefined)
    throw badUsage('Say what to keep', 'use --keep-days, --keep-archives or --answers-keep-days');
  return {
    ...(keepDays === undefined ? {} : { archivesOlderThanMs: daysToMs(keepDays) }),
    ...(keepArchives === undefined ? {} : { keepArchives }),
    ...(answersKeepDays === undefined ? {} : { answersOlderThanMs: daysToMs(answersKeepDays) }),
  };
}

function describe({ archives, records, answers, instances }: PruneReport): string {
  const done = [
    ...(archives.length > 0 ? [`${archives.length} archives deleted (${records} records)`] : []),
    ...(answers > 0 ? [`${answers} answers forgotten`] : []),
    ...(instances > 0 ? [`${instances} ended processes forgotten`] : []),
  ];
  if (done.length === 0) return 'nothing to delete';
  return `${done.join(', ')}${archives.length === 0 ? '' : `: ${archives.map(plainText).join(', ')}`}`;
}
