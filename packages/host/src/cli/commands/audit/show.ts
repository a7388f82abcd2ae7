/** audit show: everything on record about one call. */
import type { Runtime, StoredRecord } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';
import { printJson, showError } from '../../terminal.ts';

export function addShow(command: Command, done: Done): void {
  withSharedOptions(command.command('show').description('Every record of one call, or the one with this number'))
    .argument('<id>', 'call id, request id or record number')
    .action(async (id: string, options: SharedOptions) => {
      const records = await withRuntime(options, (runtime) => recordsOf(runtime, id));
      for (const record of records) printJson(record, { compact: options.json === true });
      if (records.length === 0) showError(`No such call or record: ${id}`, 'run: tool-runtime audit list');
      done(records.length === 0 ? 1 : 0);
    });
}

/** An id is looked for as a call, then as a request; digits that are neither count as a record's number. */
function recordsOf(runtime: Runtime, id: string): readonly StoredRecord[] {
  const ofCall = [...runtime.records({ callId: id })];
  if (ofCall.length > 0) return ofCall;
  for (const record of runtime.records({ kind: 'requested' })) {
    if (record.kind === 'requested' && record.request_id === id)
      return [...runtime.records({ callId: record.call_id })];
  }
  return /^[1-9]\d{0,15}$/.test(id) ? [...runtime.records({ after: Number(id) - 1, limit: 1 })] : [];
}
