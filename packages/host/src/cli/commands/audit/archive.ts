/** audit rotate, prune and resolve: archive the journal, and settle calls that were cut off. */
import type { PruneReport, RotateReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
import { wholeNumber } from '../../option-values.ts';

const DEFAULT_DAYS = 30;

interface RotateOptions extends SharedOptions {
  readonly keepDays?: number;
  readonly keepRecords?: number;
}

/** audit rotate: old records out of the journal, into an archive beside it. */
export function addRotate(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rotate').description('Move old records into an archive in the state folder'))
    .option(
      '--keep-days <days>',
      `maximum age of records in days (default: ${DEFAULT_DAYS})`,
      wholeNumber('--keep-days', 0),
    )
    .option('--keep-records <count>', 'how many records to keep', wholeNumber('--keep-records', 0))
    .action(async (options: RotateOptions) => {
      const cut = cutOf(options);
      const report = await withRuntime(options, (runtime) => runtime.rotateJournal(cut));
      if (options.json === true) printJson(report, { compact: true });
      else for (const line of describeRotated(report)) printLine(line);
      done(0);
    });
}

function cutOf({ keepDays, keepRecords }: RotateOptions) {
  if (keepDays !== undefined && keepRecords !== undefined)
    throw badUsage('Give --keep-days or --keep-records, not both');
  if (keepRecords !== undefined) return { keepRecords };
  return { before: Date.now() - daysToMs(keepDays ?? DEFAULT_DAYS) };
}

function describeRotated({ records, through, archives, bytes, heldBy }: RotateReport): readonly string[] {
  const first =
    records === 0
      ? 'nothing to move'
      : `${records} records moved, through ${through}: ${archives.map(plainText).join(', ')} (${bytes} bytes)`;
  return heldBy === undefined
    ? [first]
    : [first, `stopped before record ${heldBy.seq}: call ${plainText(heldBy.callId)} is still open`];
}

interface PruneOptions extends SharedOptions {
  readonly keepDays?: number;
  readonly keepArchives?: number;
  readonly answersKeepDays?: number;
}

/** audit prune: deletes archives that need not be kept, oldest first. */
export function addPrune(command: Command, done: Done): void {
  withRuntimeOptions(command.command('prune').description('Delete old archives, oldest first'))
    .option('--keep-days <days>', 'delete archives whose records are all older', wholeNumber('--keep-days', 0))
    .option(
      '--keep-archives <count>',
      'delete all but this many of the newest archives',
      wholeNumber('--keep-archives', 0),
    )
    .option(
      '--answers-keep-days <days>',
      'forget answers of idempotency keys older than that; repeating such a key runs the call again',
      wholeNumber('--answers-keep-days', 0),
    )
    .action(async (options: PruneOptions) => {
      const limits = limitsOf(options);
      const report = await withRuntime(options, (runtime) => runtime.pruneJournal(limits));
      if (options.json === true) printJson(report, { compact: true });
      else printLine(describePruned(report));
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

function describePruned({ archives, records, answers, instances }: PruneReport): string {
  const done = [
    ...(archives.length > 0 ? [`${archives.length} archives deleted (${records} records)`] : []),
    ...(answers > 0 ? [`${answers} answers forgotten`] : []),
    ...(instances > 0 ? [`${instances} ended processes forgotten`] : []),
  ];
  if (done.length === 0) return 'nothing to delete';
  return `${done.join(', ')}${archives.length === 0 ? '' : `: ${archives.map(plainText).join(', ')}`}`;
}

interface ResolveOptions extends SharedOptions {
  readonly as: string;
  readonly note: string;
}

/** audit resolve: the operator states the outcome of a call whose outcome is unknown, so that its key may be used again. */
export function addResolve(command: Command, done: Done): void {
  withRuntimeOptions(
    command.command('resolve').description('Settle a call that was cut off: it completed, or it never started'),
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
      else printLine(`${call} is now recorded as ${outcome}`);
      done(0);
    });
}

/** Retention is given in days. */
const DAY_MS = 24 * 60 * 60 * 1000;

export function daysToMs(days: number): number {
  return days * DAY_MS;
}
