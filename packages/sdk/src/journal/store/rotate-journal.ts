/**
 * Moves the oldest blocks into archives and sets the base of the chain behind them.
 *
 * An archive is whole and on the disk before anything changes; only then comes one short transaction. In between the
 * event loop is free, and others may write. Of two that rotate at once, the second finds the base moved and gives up.
 */
import type { RotateOptions, RotateReport } from '../../contracts/journal-rotation.ts';
import { baseSeq, endOf, findForgedRow } from './archive-rows.ts';
import type { Seal } from './block-body.ts';
import { type CommitParts, commitRotation, type Moved } from './commit-rotation.ts';
import type { BlockRow } from './journal-tables.ts';
import { type Goal, goalOf, isBelow, isDue, isWanted, oldestOpen, wholeNumber } from './rotation-goal.ts';
import { damaged } from './sqlite-failure.ts';
import { writeArchive } from './write-archive.ts';

/** Deleting that much takes some twenty milliseconds, during which no other process can write. */
const MAX_ARCHIVE_LENGTH = 16 * 1024 * 1024;

export interface RotationParts extends CommitParts {
  readonly seal: Seal;
  readonly maxArchiveLength?: number | undefined;
  isClosed(): boolean;
}

export async function rotateJournal(parts: RotationParts, options: RotateOptions): Promise<RotateReport> {
  const goal = goalOf(parts, options);
  const moved: Moved[] = [];
  let least = Math.max(1, wholeNumber(options.minRecords ?? 1, 'minRecords'));
  while (!parts.isClosed() && isDue(parts, goal, least)) {
    const step = await moveBlocks(parts, goal);
    if (step === undefined) break;
    moved.push(step);
    least = 1;
  }
  return report(parts, moved, goal);
}

async function moveBlocks(parts: RotationParts, goal: Goal): Promise<Moved | undefined> {
  const { tables, seal, sealArchive, files, log } = parts;
  const forged = findForgedRow(tables.archives(), sealArchive);
  if (forged !== undefined) throw damaged(forged.seq, forged.reason);
  const base = endOf(tables.lastArchive());
  // It would be deleted with the blocks that were moved, and with it the trace of who put it there.
  const [first] = tables.blocksAfter(Number.MIN_SAFE_INTEGER, 1);
  if (first !== undefined && first.first_seq <= base.seq) throw damaged(base.seq + 1, 'a block stands before the base');
  // Calls that open later have later intents, so what was below the oldest one stays below it.
  const oldest = oldestOpen(log);
  const wants = (row: BlockRow) => isWanted(row, goal) && isBelow(row, oldest);
  const maxLength = parts.maxArchiveLength ?? MAX_ARCHIVE_LENGTH;
  const draft = await files.create();
  try {
    const content = await writeArchive({ tables, seal, base, wants, isStopped: parts.isClosed, maxLength }, draft);
    if (content === undefined || content.end.seq === base.seq) return undefined;
    const file = await draft.finish();
    return parts.isClosed() ? undefined : await commitRotation(parts, base, { ...content, ...file, draft });
  } finally {
    await draft.discard();
  }
}

function report(parts: RotationParts, moved: readonly Moved[], goal: Goal): RotateReport {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const totals = {
    records: sum(moved.map(({ records }) => records)),
    archives: moved.map(({ archive }) => archive),
    bytes: sum(moved.map(({ bytes }) => bytes)),
  };
  if (parts.isClosed()) return { ...totals, through: moved.at(-1)?.through ?? 0 };
  const { tables, log } = parts;
  const through = baseSeq(tables);
  const [next] = tables.blocksAfter(through, 1);
  const isHeld = next !== undefined && isWanted(next, goal) && !isBelow(next, oldestOpen(log));
  const oldest = isHeld ? oldestOpen(log) : undefined;
  return { ...totals, through, ...(oldest === undefined ? {} : { heldBy: oldest }) };
}
