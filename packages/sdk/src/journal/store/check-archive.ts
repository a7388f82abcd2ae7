/**
 * Checks one archive by itself: that it begins where the one before it ends, holds the chain up to its own end, and is
 * the very file that was written.
 */
import { createHash } from 'node:crypto';
import type { ChainHead } from '../../contracts/journal.ts';
import type { ArchiveCheck } from '../../contracts/journal-rotation.ts';
import type { ArchiveFile, ArchiveFiles } from '../../platform/state/archive-files.ts';
import { archiveBlocks } from './archive-blocks.ts';
import { endOf } from './archive-rows.ts';
import { isSame, type Seal, verifyBlocks } from './block-chain.ts';
import type { ArchiveRow } from './journal-tables.ts';

type Broken = NonNullable<ArchiveCheck['broken']>;

export interface ArchiveCheckParts {
  readonly files: ArchiveFiles;
  readonly seal: Seal;
}

export function checkArchive(
  parts: ArchiveCheckParts,
  row: ArchiveRow,
  start: ChainHead,
  anchor?: ChainHead,
): ArchiveCheck {
  const facts = { archive: row.name, first: row.first_seq, through: row.through };
  if (row.pruned_at !== null) return { ...facts, state: 'pruned' };
  let file: ArchiveFile | undefined;
  try {
    file = parts.files.open(row.name);
  } catch (thrown) {
    const reason = `unreadable: ${thrown instanceof Error ? thrown.message : 'it cannot be opened'}`;
    return { ...facts, state: 'broken', broken: { seq: row.first_seq, reason } };
  }
  if (file === undefined) return { ...facts, state: 'missing' };
  try {
    const broken = findFault(file, row, parts.seal, { start, anchor });
    return { ...facts, state: broken === undefined ? 'ok' : 'broken', ...(broken === undefined ? {} : { broken }) };
  } finally {
    file.close();
  }
}

interface Bounds {
  readonly start: ChainHead;
  readonly anchor: ChainHead | undefined;
}

function findFault(file: ArchiveFile, row: ArchiveRow, seal: Seal, bounds: Bounds): Broken | undefined {
  const hasher = createHash('sha256');
  const blocks = archiveBlocks(file, (bytes) => hasher.update(bytes));
  const { broken, head } = verifyBlocks(blocks, seal, bounds);
  if (broken !== undefined) return broken;
  if (!isSame(head, endOf(row))) return { seq: head.seq + 1, reason: `cut: it should end with record ${row.through}` };
  if (hasher.digest('hex') === row.sha256) return undefined;
  return { seq: row.first_seq, reason: 'digest mismatch: it is not the file that was written' };
}
