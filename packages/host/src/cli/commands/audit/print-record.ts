/** A journal record on stdout: one line for people, or one JSON value. */
import type { StoredRecord } from '@tool-runtime/sdk';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';

export async function createRecordPrinter(options: SharedOptions): Promise<(record: StoredRecord) => void> {
  if (options.json === true) return (record) => printJson(record, { compact: true });
  const { describeRecord } = await import('../../record-line.ts');
  return (record) => printLine(describeRecord(record));
}
