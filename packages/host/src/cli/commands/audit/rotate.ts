/** audit rotate: old records out of the journal, into an archive beside it. */
import type { RotateReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { plainText } from '../../../terminal/plain-text.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
import { wholeNumber } from '../../whole-number.ts';
import { daysToMs } from './days.ts';

const DEFAULT_DAYS = 30;

interface RotateOptions extends SharedOptions {
  readonly keepDays?: number;
  readonly keepRecords?: number;
}

export function addRotate(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rotate').description('Move old records into an archive in the state folder'))
    .option('--keep-days <days>', `how old records may get (default: ${DEFAULT_DAYS})`, wholeNumber('--keep-days', 0))
    .option('--keep-records <count>', 'how many records stay', wholeNumber('--keep-records', 0))
    .action(async (options: RotateOptions) => {
      const cut = cutOf(options);
      const report = await withRuntime(options, (runtime) => runtime.rotateJournal(cut));
      if (options.json === true) printJson(report, { compact: true });
      else for (const line of describe(report)) printLine(line);
      done(0);
    });
}

function cutOf({ keepDays, keepRecords }: RotateOptions) {
  if (keepDays !== undefined && keepRecords !== undefined)
    throw badUsage('Give --keep-days or --keep-records, not both');
  if (keepRecords !== undefined) return { keepRecords };
  return { before: Date.now() - daysToMs(keepDays ?? DEFAULT_DAYS) };
}

function describe({ records, through, archives, bytes, heldBy }: RotateReport): readonly string[] {
  const first =
    records === 0
      ? 'nothing to move'
      : `${records} records moved, through ${through}: ${archives.map(plainText).join(', ')} (${bytes} bytes)`;
  return heldBy === undefined
    ? [first]
    : [first, `stopped before record ${heldBy.seq}: call ${plainText(heldBy.callId)} is still open`];
}
