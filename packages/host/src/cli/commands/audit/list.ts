/** audit list: the newest records, or those after one, oldest first. */
import type { StoredRecord } from '@tool-runtime/sdk';
import type { JournalReader } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { type Done, withSharedOptions } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';
import { wholeNumber } from '../../whole-number.ts';
import { type ArchivedOption, withArchivedOption } from './archived-option.ts';
import { createRecordPrinter } from './print-record.ts';

type Kind = StoredRecord['kind'];

/** A record for each kind, so that the compiler notices a kind that is missing here. */
const KINDS: Readonly<Record<Kind, true>> = {
  session: true,
  requested: true,
  decision: true,
  approval: true,
  hook: true,
  intent: true,
  result: true,
  recovery: true,
  checkpoint: true,
  child: true,
  plan: true,
  rotation: true,
};

interface ListOptions extends ArchivedOption {
  readonly limit: number;
  readonly session?: string;
  readonly kind?: Kind;
  readonly after?: number;
}

export function addList(command: Command, done: Done): void {
  withArchivedOption(withSharedOptions(command.command('list').description('The newest records, oldest first')))
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1), 50)
    .option('--session <id>', 'only one session')
    .addOption(command.createOption('--kind <kind>', 'only one kind').choices(Object.keys(KINDS)))
    .option('--after <seq>', 'only records after this one, from there on', wholeNumber('--after', 0))
    .action(async (options: ListOptions) => {
      const print = await createRecordPrinter(options);
      await withJournal(options, (journal) => {
        for (const record of chosen(journal, options)) print(record);
      });
      done(0);
    });
}

/** The last `limit` matches, or the first ones after `--after`. */
function chosen(
  journal: JournalReader,
  { limit, session, kind, after, archived = false }: ListOptions,
): Iterable<StoredRecord> {
  const filter = {
    archived,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(kind === undefined ? {} : { kind }),
  };
  if (after !== undefined) return journal.records({ ...filter, after, limit });
  const isFiltered = session !== undefined || kind !== undefined;
  if (!isFiltered) return journal.records({ archived, after: Math.max(0, journal.head().seq - limit), limit });
  const last: StoredRecord[] = [];
  for (const record of journal.records(filter)) {
    last.push(record);
    if (last.length > limit) last.shift();
  }
  return last;
}
