/** audit tail: the last records, then those that other processes add. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { LineWriter } from '../../../transports/line-writer.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withInterrupt } from '../../interrupt.ts';
import { withJournal } from '../../open-journal.ts';
import { wholeNumber } from '../../whole-number.ts';
import { createRecordPrinter } from './print-record.ts';

/** The journal is a file that other processes write: there is nothing to wait on but time. */
const LOOK_EVERY_MS = 200;

interface TailOptions extends SharedOptions {
  readonly limit: number;
  readonly follow: boolean;
}

export function addTail(command: Command, done: Done): void {
  withSharedOptions(command.command('tail').description('The last records, then new ones as they come'))
    .option('-n, --limit <count>', 'how many to begin with', wholeNumber('--limit', 0), 10)
    .option('--no-follow', 'stop after the last record')
    .action(async (options: TailOptions) => {
      await withInterrupt((signal) => follow(options, signal));
      done(0);
    });
}

async function follow(options: TailOptions, interrupted: AbortSignal): Promise<void> {
  const gone = new AbortController();
  const output = new LineWriter(process.stdout, () => gone.abort());
  const signal = AbortSignal.any([interrupted, gone.signal]);
  const print = await createRecordPrinter(options);
  await withJournal(options, async (journal) => {
    let last = Math.max(0, journal.head().seq - options.limit);
    do {
      for (const record of journal.records({ after: last })) {
        print(record);
        last = record.seq;
      }
      await output.ready();
      if (options.follow) await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    } while (options.follow && !signal.aborted);
  });
  output.release();
}
