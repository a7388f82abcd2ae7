/**
 * Copies the oldest blocks into an archive, a page at a time. Each block is checked on the way: what someone has been
 * at must never be moved behind a new base, where the chain would seem whole again.
 */
import type { ChainHead } from '../../contracts/journal.ts';
import type { ArchiveDraft } from '../../platform/state/archive-files.ts';
import { archiveOpening, blockLines } from './archive-blocks.ts';
import { encodePage } from './archive-pages.ts';
import { baseSeq } from './archive-rows.ts';
import type { Seal } from './block-body.ts';
import { misfit, type Place, placeAfter } from './block-chain.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';
import { PAGE_ROWS } from './read-records.ts';
import { damaged } from './sqlite-failure.ts';

export interface ArchiveJob {
  readonly tables: JournalTables;
  readonly seal: Seal;
  readonly base: ChainHead;
  /** Whether the block is to be moved; asked in order, and not again after the first no. */
  wants(row: BlockRow): boolean;
  /** True once the journal is closed. */
  isStopped(): boolean;
  /** Characters after which the archive is full. */
  readonly maxLength: number;
}

export interface ArchiveContent {
  readonly end: Place;
  /** Time of the last block. */
  readonly newestAtMs: number;
}

/** Undefined when it cannot go on: the journal was closed, or another process moved the same blocks first. */
export async function writeArchive(job: ArchiveJob, draft: ArchiveDraft): Promise<ArchiveContent | undefined> {
  let content: ArchiveContent = { end: job.base, newestAtMs: 0 };
  let length = 0;
  let text = archiveOpening(job.base);
  for (let isLast = false; !isLast; text = '') {
    const page = nextPage(job, content.end, job.maxLength - length);
    if (page === undefined) return undefined;
    for (const row of page.rows) {
      text += blockLines(row);
      content = { end: placeAfter(content.end, row), newestAtMs: row.at_ms };
    }
    length += text.length;
    isLast = page.isLast;
    await draft.write(await encodePage(text));
  }
  return content;
}

interface Page {
  readonly rows: readonly BlockRow[];
  readonly isLast: boolean;
}

/** Blocks behind `from` that are wanted, checked, as many as fit into a page. */
function nextPage(job: ArchiveJob, from: Place, room: number): Page | undefined {
  if (job.isStopped()) return undefined;
  const { tables, seal, base } = job;
  const found = tables.blocksAfter(from.seq, PAGE_ROWS);
  const rows: BlockRow[] = [];
  let head = from;
  for (const row of found) {
    if (room <= 0 || !job.wants(row)) return { rows, isLast: true };
    const reason = misfit(row, head, seal);
    if (reason !== undefined) {
      if (baseSeq(tables) !== base.seq) return undefined;
      throw damaged(head.seq + 1, reason);
    }
    rows.push(row);
    head = placeAfter(head, row);
    room -= row.body.length;
  }
  return { rows, isLast: found.length < PAGE_ROWS };
}
