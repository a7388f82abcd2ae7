/**
 * What an archive holds: JSON lines. The first says where the archive begins; then, for each block, one line with its
 * numbers and its MAC, followed by the lines of its body exactly as they were sealed: one for each record unless `lines`
 * says how many there are.
 */
import type { ChainHead } from '../../contracts/journal.ts';
import type { ArchiveFile, ArchiveFiles } from '../../platform/state/archive-files.ts';
import { decodePages } from './archive-pages.ts';
import type { ArchiveRow, BlockRow, JournalTables } from './journal-tables.ts';
import { damaged } from './sqlite-failure.ts';

const FORMAT = 1;

export function archiveOpening({ seq, mac }: ChainHead): string {
  return `${JSON.stringify({ journal_archive: FORMAT, first_seq: seq + 1, previous_mac: mac })}\n`;
}

export function blockLines({ first_seq, count, at_ms, claims, mac, body }: BlockRow): string {
  const lines = body.split('\n').length;
  const more = { ...(lines === count ? {} : { lines }), ...(claims ? { claims } : {}) };
  return `${JSON.stringify({ block: { first_seq, count, at_ms, ...more, mac } })}\n${body}\n`;
}

export function archiveName(first: number, end: ChainHead): string {
  return `journal-${first}-${end.seq}-${end.mac.slice(0, 16)}.jsonl.gz`;
}

/** Where an archive of that name ends: a record, and the beginning of the chain's MAC there. */
export function archiveEnd(name: string): { readonly seq: number; readonly macStart: string } | undefined {
  const match = /^journal-\d+-(\d+)-([0-9a-f]{16})\./.exec(name);
  return match === null ? undefined : { seq: Number(match[1]), macStart: match[2] ?? '' };
}

/** Throws TypeError or SyntaxError for a file that is no archive. */
export function* archiveBlocks(file: ArchiveFile, onBytes?: (bytes: Uint8Array) => void): Generator<BlockRow> {
  let isOpened = false;
  for (const text of decodePages(file, onBytes)) {
    const lines = text.split('\n');
    let at = 0;
    if (!isOpened) checkOpening(lines[at++]);
    isOpened = true;
    // The last line ends with a line feed too, so one empty string is left.
    while (at < lines.length - 1) {
      const { block } = JSON.parse(lines[at] ?? '') as { block: Omit<BlockRow, 'body'> & { readonly lines?: number } };
      const { lines: many = block.count, ...row } = block;
      yield { ...row, body: lines.slice(at + 1, at + 1 + many).join('\n') };
      at += 1 + Math.max(0, many);
    }
  }
}

function checkOpening(line: string | undefined): void {
  const opening = JSON.parse(line ?? '') as { journal_archive?: unknown } | null;
  if (opening?.journal_archive !== FORMAT) throw new TypeError('it is of another version');
}

/** Blocks from the one that holds record `from` on, of every archive that is still there. */
export function* archivedBlocks(tables: JournalTables, files: ArchiveFiles, from: number): Generator<BlockRow> {
  for (const row of tables.archives()) {
    if (row.pruned_at !== null || row.through < from) continue;
    for (const block of blocksOf(row, files)) if (block.first_seq + block.count > from) yield block;
  }
}

function* blocksOf(row: ArchiveRow, files: ArchiveFiles): Generator<BlockRow> {
  const file = files.open(row.name);
  if (file === undefined) return;
  try {
    yield* archiveBlocks(file);
  } catch (cause) {
    throw damaged(row.first_seq, `archive ${row.name} cannot be read`, cause);
  } finally {
    file.close();
  }
}
