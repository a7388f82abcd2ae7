/**
 * Deletes what need not be kept. Archives go oldest first, so that what remains is one stretch up to now; that they
 * went is on record before they do, so that a deleted archive is never mistaken for a lost one.
 */
import type { Clock } from '../../contracts/clock.ts';
import type { PruneOptions, PruneReport, RotationRecord } from '../../contracts/journal-rotation.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { ArchiveFiles } from '../../platform/state/archive-files.ts';
import { findForgedRow, type SealArchive } from './archive-rows.ts';
import { type BlockLog, prepareRecords } from './block-log.ts';
import type { BlockWriter } from './block-writer.ts';
import type { ArchiveRow, JournalTables } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';
import { damaged } from './sqlite-failure.ts';

/** The answers of `dedupe` keys guard the world outside, where no session ends: they are never forgotten. */
const FORGETTABLE_SCOPES = 'idempotency:';
const ANSWERS_AT_ONCE = 5000;

export interface PruneParts {
  readonly tables: JournalTables;
  readonly log: BlockLog;
  readonly writer: BlockWriter;
  /** Runs `work` as the only writer, in turn. */
  change<T>(work: () => T): MaybePromise<T>;
  readonly files: ArchiveFiles;
  readonly keys: KeyLedger;
  readonly sealArchive: SealArchive;
  readonly clock: Clock;
  isClosed(): boolean;
}

export async function pruneJournal(parts: PruneParts, options: PruneOptions): Promise<PruneReport> {
  checkOptions(options);
  const answers = await forgetAnswers(parts, options.answersOlderThanMs);
  if (parts.isClosed()) return { archives: [], records: 0, answers, instances: 0 };
  const { tables, log } = parts;
  const done = await parts.change(() => {
    const instances = tables.deleteRetired(log.unfinished().map(({ instance }) => instance));
    const rows = markArchives(parts, options);
    const records = rows.reduce((sum, row) => sum + recordsIn(row), 0);
    const archives = rows.map(({ name }) => name);
    if (rows.length > 0) record(parts, { archives, records, answers: 0 });
    return { archives, records, answers, instances };
  });
  removePruned(parts);
  return done;
}

/** In steps that are recorded each, so that others may write in between. */
async function forgetAnswers(parts: PruneParts, olderThanMs: number | undefined): Promise<number> {
  if (olderThanMs === undefined) return 0;
  const before = parts.clock.now() - olderThanMs;
  for (let total = 0; ; await new Promise((resolve) => setImmediate(resolve))) {
    if (parts.isClosed()) return total;
    const answers = await parts.change(() => forgetSome(parts, before));
    total += answers;
    if (answers < ANSWERS_AT_ONCE) return total;
  }
}

function forgetSome(parts: PruneParts, before: number): number {
  const names = parts.tables.settledKeys(FORGETTABLE_SCOPES, before, ANSWERS_AT_ONCE);
  for (const name of names) parts.keys.remove(name);
  if (names.length > 0) record(parts, { archives: [], records: 0, answers: names.length });
  return names.length;
}

/** The archives that go now, marked so. */
function markArchives({ tables, sealArchive, clock }: PruneParts, options: PruneOptions): readonly ArchiveRow[] {
  const all = tables.archives();
  const forged = findForgedRow(all, sealArchive);
  if (forged !== undefined) throw damaged(forged.seq, forged.reason);
  const now = clock.now();
  const rows = all.filter(({ pruned_at }) => pruned_at === null);
  const kept = rows.findIndex((row, at) => !isExpendable(row, { now, newer: rows.length - 1 - at }, options));
  const gone = kept < 0 ? rows : rows.slice(0, kept);
  for (const row of gone) tables.putArchive(sealArchive({ ...row, pruned_at: now }));
  return gone;
}

interface Place {
  readonly now: number;
  /** How many newer archives there are. */
  readonly newer: number;
}

function isExpendable({ newest_at_ms }: ArchiveRow, { now, newer }: Place, options: PruneOptions): boolean {
  const { archivesOlderThanMs, keepArchives } = options;
  if (archivesOlderThanMs !== undefined && newest_at_ms < now - archivesOlderThanMs) return true;
  return keepArchives !== undefined && newer >= keepArchives;
}

function record(
  { tables, writer, clock }: PruneParts,
  counts: Pick<PruneReport, 'archives' | 'records' | 'answers'>,
): void {
  const through = tables.archives().findLast(({ pruned_at }) => pruned_at !== null)?.through ?? 0;
  const pruned: RotationRecord = { kind: 'rotation', event: 'pruned', at_ms: clock.now(), through, ...counts };
  writer.write(prepareRecords([pruned]));
}

/** Also what an earlier call marked and did not come to delete. */
function removePruned({ tables, files }: PruneParts): void {
  const present = new Set(files.list());
  for (const { name, pruned_at } of tables.archives()) if (pruned_at !== null && present.has(name)) files.remove(name);
}

function recordsIn({ through, first_seq }: ArchiveRow): number {
  return through - first_seq + 1;
}

function checkOptions(options: PruneOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) {
      throw new TypeError(`${name} must be a number from 0 on`);
    }
  }
}
