/** How far a rotation may go: as far as it was told to, and never past the intent of a call that is still open. */
import type { RotateOptions, RotateReport } from '../../contracts/journal-rotation.ts';
import { baseSeq, contentSeq } from './archive-rows.ts';
import type { BlockLog } from './block-log.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';

/** What is to be moved: blocks that end at `last` or before, and began before `before`. */
export interface Goal {
  readonly last: number;
  readonly before: number;
}

type OpenCall = NonNullable<RotateReport['heldBy']>;

interface GoalParts {
  readonly tables: JournalTables;
  readonly log: BlockLog;
}

export function goalOf({ tables, log }: GoalParts, options: RotateOptions): Goal {
  const head = log.catchUp();
  if ('before' in options) return { last: head.seq, before: checkedTime(options.before) };
  // The records of the last rotation are not counted: else they alone would be a reason for the next one.
  const count = contentSeq(tables.lastArchive(), head);
  return { last: count - wholeNumber(options.keepRecords, 'keepRecords'), before: Number.POSITIVE_INFINITY };
}

/** Whether at least so many records can be moved. Costs a look at two rows when they cannot. */
export function isDue({ tables, log }: GoalParts, goal: Goal, least: number): boolean {
  const target = baseSeq(tables) + least;
  const block = tables.blockAt(target);
  if (block === undefined || lastOf(block) < target || !isWanted(block, goal)) return false;
  return isBelow(block, oldestOpen(log));
}

export function oldestOpen(log: BlockLog): OpenCall | undefined {
  let oldest: OpenCall | undefined;
  for (const [callId, seq] of log.openCalls().intents) {
    if (oldest === undefined || seq < oldest.seq) oldest = { callId, seq };
  }
  return oldest;
}

export function isWanted(row: BlockRow, { last, before }: Goal): boolean {
  return lastOf(row) <= last && row.at_ms < before;
}

export function isBelow(row: BlockRow, call: OpenCall | undefined): boolean {
  return call === undefined || lastOf(row) < call.seq;
}

export function lastOf({ first_seq, count }: BlockRow): number {
  return first_seq + count - 1;
}

export function wholeNumber(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name} must be a whole number from 0 on`);
}

function checkedTime(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new TypeError('before must be a time in milliseconds');
}
