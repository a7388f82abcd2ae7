/** audit export: the whole journal as JSON lines. */
import type { Command } from 'commander';
import { LineWriter } from '../../../transports/line-writer.ts';
import { type Done, withSharedOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
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
  await withRuntime(options, async (runtime) => {
    // Taken first: a record that another process adds meanwhile must not stand above a head that does not cover it.
    const head = runtime.head();
    for (const record of runtime.records({ archived: options.archived === true })) {
      if (record.seq > head.seq || output.isGone) break;
      output.write(JSON.stringify(record));
      await output.ready();
    }
    output.write(JSON.stringify({ kind: 'head', ...head }));
  });
  output.release();
}
