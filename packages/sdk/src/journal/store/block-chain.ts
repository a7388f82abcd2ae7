/**
 * The keyed chain over blocks: each MAC covers the one before it, so changing, dropping, adding or moving a row shows
 * at that row. Cutting off the end shows only against an anchor, a head that was kept elsewhere.
 */
import type { ChainHead, VerifyReport } from '../../contracts/journal.ts';
import { recordsOf, type Seal } from './block-body.ts';
import type { BlockRow } from './journal-tables.ts';
import { previousTotal } from './key-ledger.ts';

export const GENESIS: ChainHead = { seq: 0, mac: '0'.repeat(64) };

export interface Stretch {
  /** Where the rows begin; the beginning of the chain unless given. */
  readonly start?: ChainHead;
  /** A place that the rows must contain. */
  readonly anchor?: ChainHead | undefined;
}

/** Walks the rows in order and stops at the first that does not fit. A throw while reading is a row that does not fit. */
export function verifyBlocks(
  rows: Iterable<BlockRow>,
  seal: Seal,
  { start = GENESIS, anchor }: Stretch = {},
): VerifyReport {
  let head: Place = start;
  let anchored = anchor === undefined || isSame(anchor, head);
  const broken = (seq: number, reason: string): VerifyReport => ({
    ok: false,
    records: head.seq - start.seq,
    head: { seq: head.seq, mac: head.mac },
    broken: { seq, reason },
  });
  try {
    for (const row of rows) {
      const reason = misfit(row, head, seal);
      if (reason !== undefined) return broken(head.seq + 1, reason);
      head = placeAfter(head, row);
      anchored ||= anchor !== undefined && isSame(anchor, head);
    }
  } catch (thrown) {
    return broken(head.seq + 1, `unreadable: ${thrown instanceof Error ? thrown.message : 'row cannot be read'}`);
  }
  if (!anchored && anchor !== undefined) {
    return broken(Math.min(anchor.seq, head.seq + 1), 'anchor not contained: chain was cut or rewritten');
  }
  return { ok: true, records: head.seq - start.seq, head: { seq: head.seq, mac: head.mac } };
}

/** A place in the chain, and the block that carries the last total of claims before it, where that is known. */
export interface Place extends ChainHead {
  readonly total?: number | undefined;
}

export function placeAfter(before: Place, row: BlockRow): Place {
  return { seq: before.seq + row.count, mac: row.mac, total: row.claims ? row.first_seq : before.total };
}

export function isSame(one: ChainHead, other: ChainHead): boolean {
  return one.seq === other.seq && one.mac === other.mac;
}

/** Why the row cannot be the next one after `head`, or undefined when it is. */
export function misfit(row: BlockRow, head: Place, seal: Seal): string | undefined {
  const expected = head.seq + 1;
  if (row.first_seq !== expected) {
    return row.first_seq > expected
      ? `gap: the next stored record is ${row.first_seq}`
      : `overlap: another block starts at ${row.first_seq}`;
  }
  // SQLite stores what it is given in any column: a tampered one may hold another type.
  if (typeof row.body !== 'string' || typeof row.mac !== 'string' || typeof row.at_ms !== 'number')
    return 'unparsable: a column has the wrong type';
  if (seal(head.mac, row) !== row.mac) return mismatch(row);
  // Sealed by the runtime itself, but onto a total that was not the last: someone had hidden the last one from it.
  const total = head.seq === 0 ? 0 : head.total;
  if (row.claims && total !== undefined && previousTotal(row.claims) !== total)
    return 'claims rolled back: their total follows one that is not the last';
  return unparsable(row);
}

function mismatch(row: BlockRow): string {
  const reason = unparsable(row);
  return reason?.startsWith('count') ? reason : 'mac mismatch';
}

/** Only the holder of the key can write such a block; it is broken all the same. */
function unparsable(row: BlockRow): string | undefined {
  let count = 0;
  try {
    for (const record of recordsOf(row)) {
      if (typeof record?.kind !== 'string') return 'unparsable: a record has no kind';
      count++;
    }
  } catch {
    return 'unparsable: a record is not JSON';
  }
  return count === row.count ? undefined : `count mismatch: ${count} records where ${row.count} are stated`;
}
