/** audit list, show, tail and export: read the journal. */

import { setTimeout as pause } from 'node:timers/promises';
import type { StoredRecord } from '@tool-runtime/sdk';
import type { JournalReader } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { LineWriter } from '../../../transports/line-writer.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withInterrupt } from '../../interrupt.ts';
import { withJournal } from '../../open-journal.ts';
import { wholeNumber } from '../../option-values.ts';

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
  readonly records?: boolean;
  readonly session?: string;
  readonly kind?: Kind;
  readonly after?: number;
}

/** audit list: the newest calls, or records, oldest first. */
export function addList(command: Command, done: Done): void {
  withArchivedOption(
    withSharedOptions(command.command('list').description('The newest calls, one line each, oldest first')),
  )
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1), 50)
    .option('--records', 'every record instead, as --kind, --after and --json show them too')
    .option('--session <id>', 'only one session')
    .addOption(command.createOption('--kind <kind>', 'only one kind').choices(Object.keys(KINDS)))
    .option('--after <seq>', 'only records after this one, oldest first', wholeNumber('--after', 0))
    .action(async (options: ListOptions) => {
      const { records, kind, after, json } = options;
      const wantsRecords = records === true || kind !== undefined || after !== undefined || json === true;
      await (wantsRecords ? printRecords(options) : printCalls(options));
      done(0);
    });
}

async function printRecords(options: ListOptions): Promise<void> {
  const print = await createRecordPrinter(options);
  await withJournal(options, (journal) => {
    for (const record of chosen(journal, options)) print(record);
  });
}

/** Records of one call, at a guess; where it is too low, more are read. */
const RECORDS_PER_CALL = 8;

async function printCalls({ limit, session, archived = false, ...options }: ListOptions): Promise<void> {
  const { collectCalls, describeCall } = await import('../../record-line.ts');
  await withJournal(options, (journal) => {
    const { seq } = journal.head();
    const filter = { archived, ...(session === undefined ? {} : { sessionId: session }) };
    for (let span = limit * RECORDS_PER_CALL; ; span *= 4) {
      const calls = collectCalls(journal.records({ ...filter, after: Math.max(0, seq - span) }));
      if (calls.length < limit && span < seq) continue;
      for (const call of calls.slice(-limit)) printLine(describeCall(call));
      if (calls.length === 0) printLine('no calls');
      return;
    }
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

/** audit show: everything on record about one call. */
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

/** The journal is a file that other processes write: there is nothing to wait on but time. */
const LOOK_EVERY_MS = 200;

interface TailOptions extends SharedOptions {
  readonly limit: number;
  readonly follow: boolean;
}

/** audit tail: the last records, then those that other processes add. */
export function addTail(command: Command, done: Done): void {
  withSharedOptions(command.command('tail').description('The last records, then new ones as they are written'))
    .option('-n, --limit <count>', 'how many records to start with', wholeNumber('--limit', 0), 10)
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

/** audit export: the whole journal as JSON lines. */
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

export interface ArchivedOption extends SharedOptions {
  readonly archived?: boolean;
}

/** --archived: reading verbs of audit also look into the archives that are still there. */
export function withArchivedOption(command: Command): Command {
  return command.option('--archived', 'also records that were moved into archives');
}

/** A journal record on stdout: one line for people, or one JSON value. */
async function createRecordPrinter(options: SharedOptions): Promise<(record: StoredRecord) => void> {
  if (options.json === true) return (record) => printJson(record, { compact: true });
  const { describeRecord } = await import('../../record-line.ts');
  return (record) => printLine(describeRecord(record));
}
