/**
 * Checks the whole journal: the sealed list of archives, the blocks behind the base, that every archive
 * is there, and what is in them on request; then what is sealed beside the chain (`verify-rows.ts`).
 */

import { createHash } from 'node:crypto';
import type { ChainHead, VerifyOptions, VerifyReport } from '../../contracts/journal.ts';
import type { ArchiveCheck } from '../../contracts/journal-rotation.ts';
import type { ArchiveFile, ArchiveFiles } from '../../platform/state/archive-files.ts';
import { archiveBlocks } from './archive-blocks.ts';
import { endOf, findForgedRow, type SealArchive } from './archive-rows.ts';
import type { Seal } from './block-body.ts';
import { GENESIS, isSame, verifyBlocks } from './block-chain.ts';
import type { ArchiveRow, BlockRow } from './journal-tables.ts';
import { type RowCheckParts, rowProblem } from './verify-rows.ts';

interface VerifyParts extends ArchiveCheckParts, RowCheckParts {
  readonly sealArchive: SealArchive;
  rows(): Iterable<BlockRow>;
}

type Broken = NonNullable<VerifyReport['broken']>;

/** On one state of the tables: a claim that another process adds meanwhile must not be counted without its block. */
export function verifyJournal(parts: VerifyParts, anchor?: ChainHead, options: VerifyOptions = {}): VerifyReport {
  return parts.tables.snapshot(() => verifySnapshot(parts, anchor, options));
}

function verifySnapshot(parts: VerifyParts, anchor: ChainHead | undefined, options: VerifyOptions): VerifyReport {
  const { rows, broken } = readList(parts);
  if (broken !== undefined) return { ok: false, records: 0, head: GENESIS, broken };
  const last = rows.at(-1);
  const base = endOf(last);
  const isOld = anchor !== undefined && anchor.seq <= base.seq;
  let total: string | undefined;
  const journal = verifyBlocks(withTotal(), parts.seal, { start: base, anchor: isOld ? undefined : anchor });
  const archives =
    options.archives === true ? rows.map((row, at) => checkArchive(parts, row, endOf(rows[at - 1]))) : [];
  const problem =
    firstBroken(archives) ??
    journal.broken ??
    firstMissing(parts, rows) ??
    cutEnd(last, journal.head) ??
    (isOld ? unconfirmed(parts, rows, anchor) : undefined) ??
    rowProblem(parts, journal.head, total);
  return {
    ok: problem === undefined,
    records: journal.records + recordsIn(archives),
    head: journal.head,
    ...(last === undefined ? {} : { base }),
    ...(options.archives === true ? { archives } : {}),
    ...(problem === undefined ? {} : { broken: problem }),
  };

  function* withTotal(): Generator<BlockRow> {
    for (const row of parts.rows()) {
      total = row.claims ?? total;
      yield row;
    }
  }
}

interface List {
  readonly rows: readonly ArchiveRow[];
  readonly broken: Broken | undefined;
}

function readList({ tables, sealArchive }: VerifyParts): List {
  try {
    const rows = tables.archives();
    return { rows, broken: findForgedRow(rows, sealArchive) };
  } catch (thrown) {
    const reason = `unreadable: ${thrown instanceof Error ? thrown.message : 'the list of archives cannot be read'}`;
    return { rows: [], broken: { seq: 1, reason } };
  }
}

function firstBroken(archives: readonly ArchiveCheck[]): Broken | undefined {
  const found = archives.find(({ state }) => state === 'broken');
  if (found?.broken === undefined) return undefined;
  return { seq: found.broken.seq, reason: `archive ${found.archive}: ${found.broken.reason}` };
}

/** An archive that was deleted without `audit prune`. Looked for in every check: it costs no more than opening it. */
function firstMissing({ files }: VerifyParts, rows: readonly ArchiveRow[]): Broken | undefined {
  const row = rows.find(({ name, pruned_at }) => pruned_at === null && !isThere(files, name));
  if (row === undefined) return undefined;
  return { seq: row.first_seq, reason: `archive ${row.name} is missing: records ${row.first_seq} to ${row.through}` };
}

/** One that cannot be opened is there; its own check says what is wrong with it. */
function isThere(files: VerifyParts['files'], name: string): boolean {
  try {
    const file = files.open(name);
    file?.close();
    return file !== undefined;
  } catch {
    return true;
  }
}

/** With the base it was written down how far the chain had come. */
function cutEnd(last: ArchiveRow | undefined, head: ChainHead): Broken | undefined {
  if (last === undefined || head.seq >= last.head_seq) return undefined;
  return { seq: head.seq + 1, reason: `cut: the chain had come to record ${last.head_seq}` };
}

/** Why an anchor before the base is not known to be part of the chain; undefined when it is. */
function unconfirmed(parts: VerifyParts, rows: readonly ArchiveRow[], anchor: ChainHead): Broken | undefined {
  if ([GENESIS, ...rows.map(endOf)].some((end) => isSame(end, anchor))) return undefined;
  const at = rows.findIndex(({ first_seq, through }) => first_seq <= anchor.seq && anchor.seq < through);
  const row = rows[at];
  if (row === undefined) return { seq: anchor.seq, reason: 'anchor not contained: chain was cut or rewritten' };
  const { state, broken } = checkArchive(parts, row, endOf(rows[at - 1]), anchor);
  if (state === 'ok') return undefined;
  if (broken !== undefined) return { seq: broken.seq, reason: `archive ${row.name}: ${broken.reason}` };
  return { seq: anchor.seq, reason: `anchor lies in a deleted archive: ${row.name}` };
}

function recordsIn(archives: readonly ArchiveCheck[]): number {
  let records = 0;
  for (const { state, first, through } of archives) if (state === 'ok') records += through - first + 1;
  return records;
}

interface ArchiveCheckParts {
  readonly files: ArchiveFiles;
  readonly seal: Seal;
}

/**
 * Checks one archive by itself: it begins where the one before it ends, holds the chain up to its own end, and is the
 * very file that was written.
 */
function checkArchive(parts: ArchiveCheckParts, row: ArchiveRow, start: ChainHead, anchor?: ChainHead): ArchiveCheck {
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
