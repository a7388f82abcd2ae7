/**
 * Reads records out of blocks, page by page. A reader may take its time: what is moved into an archive between two
 * pages is read there, so that no record is left out in the middle.
 */
import type { ReadFilter, StoredRecord } from '../../contracts/journal.ts';
import { marksOfKind, recordsOf } from './block-body.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';
import { damaged } from './sqlite-failure.ts';

export const PAGE_ROWS = 128;

export interface BlockSource {
  readonly tables: JournalTables;
  /** Archived blocks from the one that holds record `from` on. */
  archived(from: number): Iterable<BlockRow>;
}

export function* readRecords(source: BlockSource, filter: ReadFilter): Generator<StoredRecord> {
  const { after = 0, limit = Number.POSITIVE_INFINITY } = filter;
  const marks = [filter.sessionId, filter.callId].flatMap((value) =>
    value === undefined ? [] : [[JSON.stringify(value)]],
  );
  if (filter.kind !== undefined) marks.push([...marksOfKind(filter.kind)]);
  let left = limit;
  if (left <= 0) return;
  for (const row of blocksFrom(source, after + 1, { archived: filter.archived === true, pageRows: left })) {
    // Parsing is the cost of a search; a block that never mentions what is sought is not parsed.
    if (!marks.every((either) => either.some((mark) => row.body.includes(mark)))) continue;
    for (const record of storedRecords(row)) {
      if (record.seq <= after || !matches(record, filter)) continue;
      yield record;
      if (--left <= 0) return;
    }
  }
}

export function recordAt(source: BlockSource, seq: number): StoredRecord | undefined {
  for (const record of readRecords(source, { after: seq - 1, limit: 1 }))
    return record.seq === seq ? record : undefined;
  return undefined;
}

interface Reading {
  readonly archived: boolean;
  readonly pageRows: number;
}

function* blocksFrom({ tables, archived }: BlockSource, from: number, reading: Reading): Generator<BlockRow> {
  const pageRows = Math.min(PAGE_ROWS, reading.pageRows);
  let next = reading.archived ? from : undefined;
  let cursor = (tables.blockAt(from)?.first_seq ?? 1) - 1;
  for (;;) {
    const page = tables.blocksAfter(cursor, pageRows);
    const first = page[0]?.first_seq ?? Number.POSITIVE_INFINITY;
    if (next !== undefined && first > next) yield* until(archived(next), first);
    if (page.length === 0) return;
    for (const row of page) {
      yield row;
      cursor = row.first_seq;
      next = row.first_seq + row.count;
    }
  }
}

function* until(blocks: Iterable<BlockRow>, end: number): Generator<BlockRow> {
  for (const block of blocks) {
    if (block.first_seq >= end) return;
    yield block;
  }
}

function storedRecords(row: BlockRow): readonly StoredRecord[] {
  try {
    return Array.from(recordsOf(row), (record, at) => Object.assign(record, { seq: row.first_seq + at }));
  } catch (cause) {
    throw damaged(row.first_seq, 'a block cannot be read', cause);
  }
}

function matches(record: StoredRecord, filter: ReadFilter): boolean {
  const { kind, sessionId, callId } = filter;
  if (kind !== undefined && record.kind !== kind) return false;
  if (sessionId !== undefined && !('session_id' in record && record.session_id === sessionId)) return false;
  return callId === undefined || ('call_id' in record && record.call_id === callId);
}
