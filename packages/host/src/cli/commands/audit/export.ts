/** audit export: the whole journal as JSON lines. */
import type { Command } from 'commander';
import { LineWriter } from '../../../transports/line-writer.ts';
import { type Done, withSharedOptions } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';
import { type ArchivedOption, withArchivedOption } from './archived-option.ts';

export function addExport(command: Command, done: Done): void {
  withArchivedOption(
    withSharedOptions(command.command('export').description('All records as JSON lines, the chain head last')),
  ).action(async (options: ArchivedOption) => {
    await writeRecords(options);
    done(0);
  });
}

async function writeRecords(options: ArchivedOption): Promise<void> {
  const output = new LineWriter(process.stdout);
  await withJournal(options, async (journal) => {
    // Taken first: a record that another process adds meanwhile must not stand above a head that does not cover it.
    const head = journal.head();
    for (const record of journal.records({ archived: options.archived === true })) {
      if (record.seq > head.seq || output.isGone) break;
      output.write(JSON.stringify(record));
      await output.ready();
    }
    output.write(JSON.stringify({ kind: 'head', ...head }));
  });
  output.release();
}
