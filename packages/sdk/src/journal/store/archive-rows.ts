/**
 * The list of archives, and with it the base of the chain: the place where the newest archive ends and the stored
 * blocks begin. Each row is sealed, so without the key the base cannot be moved and the front cannot be cut off.
 */
import type { ChainHead } from '../../contracts/journal.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import { GENESIS } from './block-chain.ts';
import type { ArchiveRow, JournalTables } from './journal-tables.ts';

type UnsealedRow = Omit<ArchiveRow, 'seal'>;
export type SealArchive = (row: UnsealedRow) => ArchiveRow;

export function createArchiveSeal(masterKey: Uint8Array): SealArchive {
  const digest = createKeyedDigest(masterKey, 'tool-runtime journal base v1');
  return (row) => ({ ...row, seal: digest(textOf(row)) });
}

function textOf(row: UnsealedRow): string {
  const { through, first_seq, mac, name, sha256, bytes, newest_at_ms, head_seq, content_seq, pruned_at } = row;
  const place = [through, first_seq, mac, head_seq, content_seq];
  return JSON.stringify([...place, name, sha256, bytes, newest_at_ms, pruned_at]);
}

export function endOf(row: ArchiveRow | undefined): ChainHead {
  return row === undefined ? GENESIS : { seq: row.through, mac: row.mac };
}

export function baseSeq(tables: JournalTables): number {
  return tables.lastArchive()?.through ?? 0;
}

/** The last record of `head`'s chain that is not a rotation's own. */
export function contentSeq(last: ArchiveRow | undefined, head: ChainHead): number {
  return last?.head_seq === head.seq ? last.content_seq : head.seq;
}

/** The first row that cannot be believed, and why. */
export function findForgedRow(
  rows: readonly ArchiveRow[],
  seal: SealArchive,
): { readonly seq: number; readonly reason: string } | undefined {
  let end = 0;
  for (const row of rows) {
    if (seal(row).seal !== row.seal) return { seq: end + 1, reason: 'base forged: an archive entry has a wrong seal' };
    if (row.first_seq !== end + 1) return { seq: end + 1, reason: 'base moved: an archive entry is missing' };
    end = row.through;
  }
  return undefined;
}

/** Runs a reading again when a rotation took rows away under it. Rotations are rare, so this ends. */
export function undisturbed<T>(tables: JournalTables, reading: () => T): T {
  for (;;) {
    const base = baseMark(tables);
    try {
      const result = reading();
      if (baseMark(tables) === base) return result;
    } catch (thrown) {
      if (baseMark(tables) === base) throw thrown;
    }
  }
}

function baseMark(tables: JournalTables): number {
  try {
    return baseSeq(tables);
  } catch {
    // A row that cannot be read is the reading's to find and to name.
    return -1;
  }
}
