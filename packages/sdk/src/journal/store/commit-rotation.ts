/**
 * The moment of a rotation: in one transaction the finished archive gets its name, its blocks go, the base is set and
 * the chain says so. Killed before the commit, the archive is an orphan; the next rotation knows it by its name.
 */
import type { Clock } from '../../contracts/clock.ts';
import type { ChainHead } from '../../contracts/journal.ts';
import type { RotationRecord } from '../../contracts/journal-rotation.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { ArchiveDraft, ArchiveFiles } from '../../platform/state/archive-files.ts';
import { archiveEnd, archiveName } from './archive-blocks.ts';
import { baseSeq, contentSeq, type SealArchive } from './archive-rows.ts';
import type { BlockLog } from './block-log.ts';
import type { BlockWriter } from './block-writer.ts';
import type { JournalTables } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';
import { lastOf } from './rotation-goal.ts';
import type { ArchiveContent } from './write-archive.ts';

/** The rotation and the checkpoint behind it. */
const OWN_RECORDS = 2;

export interface CommitParts {
  readonly tables: JournalTables;
  readonly log: BlockLog;
  readonly writer: BlockWriter;
  /** Runs `work` as the only writer, in turn. */
  change<T>(work: () => T): MaybePromise<T>;
  readonly files: ArchiveFiles;
  readonly keys: KeyLedger;
  readonly sealArchive: SealArchive;
  readonly clock: Clock;
}

export interface Moved {
  readonly archive: string;
  readonly bytes: number;
  readonly records: number;
  readonly through: number;
}

export interface Finished extends ArchiveContent {
  readonly sha256: string;
  readonly bytes: number;
  readonly draft: ArchiveDraft;
}

/** Undefined when another process was faster. */
export async function commitRotation(
  parts: CommitParts,
  base: ChainHead,
  finished: Finished,
): Promise<Moved | undefined> {
  const { tables, files } = parts;
  const leftovers = await parts.change(() => {
    if (baseSeq(tables) !== base.seq) return undefined;
    // A draft of someone who still writes it begins where the base no longer will be.
    const found = [...files.drafts(), ...findOrphans(tables, files)];
    replaceBlocks(parts, base, finished);
    return found;
  });
  if (leftovers === undefined) return undefined;
  const archive = archiveName(base.seq + 1, finished.end);
  for (const name of leftovers) if (name !== archive) files.remove(name);
  return { archive, bytes: finished.bytes, records: finished.end.seq - base.seq, through: finished.end.seq };
}

/** The base is set before the record is written: with every block gone, it is what the record is sealed onto. */
function replaceBlocks(
  { tables, log, writer, keys, sealArchive, clock }: CommitParts,
  base: ChainHead,
  done: Finished,
) {
  const { end, sha256, bytes, newestAtMs, draft } = done;
  const first = base.seq + 1;
  const name = archiveName(first, end);
  const head = log.catchUp();
  draft.place(name);
  // What is left must say by itself which claims there are.
  keys.carry();
  tables.deleteBlocks(end.seq);
  tables.putArchive(
    sealArchive({
      through: end.seq,
      first_seq: first,
      mac: end.mac,
      name,
      sha256,
      bytes,
      newest_at_ms: newestAtMs,
      head_seq: head.seq + OWN_RECORDS,
      content_seq: contentSeq(tables.lastArchive(), head),
      pruned_at: null,
    }),
  );
  const record: RotationRecord = {
    kind: 'rotation',
    event: 'archived',
    at_ms: clock.now(),
    through: end.seq,
    mac: end.mac,
    records: end.seq - base.seq,
    archive: name,
    archive_sha256: sha256,
  };
  writer.writeWithCheckpoint([record]);
}

/**
 * Unlisted archives whose records are all still here: they were placed by a process that died before its commit.
 * An archive of an earlier journal of this folder does not count: its records are nowhere else.
 */
function findOrphans(tables: JournalTables, files: ArchiveFiles): readonly string[] {
  const known = new Set(tables.archives().map(({ name }) => name));
  return files.list().filter((name) => {
    const end = known.has(name) ? undefined : archiveEnd(name);
    const block = end === undefined ? undefined : tables.blockAt(end.seq);
    return block !== undefined && lastOf(block) === end?.seq && block.mac.startsWith(end.macStart);
  });
}
