/** audit show: everything on record about one call. */
import type { StoredRecord } from '@tool-runtime/sdk';
import type { JournalReader } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { printJson, showError } from '../../../terminal/terminal.ts';
import { type Done, withSharedOptions } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';
import { type ArchivedOption, withArchivedOption } from './archived-option.ts';

export function addShow(command: Command, done: Done): void {
  withArchivedOption(
    withSharedOptions(command.command('show').description('Every record of one call, or the one with this number')),
  )
    .argument('<id>', 'call id, request id or record number')
    .action(async (id: string, options: ArchivedOption) => {
      const records = await withJournal(options, (journal) => recordsOf(journal, id, options));
      for (const record of records) printJson(record, { compact: options.json === true });
      if (records.length === 0) showError(`No such call or record: ${id}`, next(options));
      done(records.length === 0 ? 1 : 0);
    });
}

/** An id is looked for as a call, then as a request; digits that are neither count as a record's number. */
function recordsOf(journal: JournalReader, id: string, { archived = false }: ArchivedOption): readonly StoredRecord[] {
  const ofCall = [...journal.records({ archived, callId: id })];
  if (ofCall.length > 0) return ofCall;
  for (const record of journal.records({ archived, kind: 'requested' })) {
    if (record.kind === 'requested' && record.request_id === id)
      return [...journal.records({ archived, callId: record.call_id })];
  }
  if (!/^[1-9]\d{0,15}$/.test(id)) return [];
  const seq = Number(id);
  // Where it was archived or never written, the next one after it would be another record.
  return [...journal.records({ archived, after: seq - 1, limit: 1 })].filter((record) => record.seq === seq);
}

function next({ archived = false }: ArchivedOption): string {
  return archived ? 'run: tool-runtime audit list --archived' : 'run: tool-runtime audit list, or add --archived';
}
