/** What is at a name, for the record: content by its digest, folders and links by what they are. */
import { type BigIntStats, constants } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { FileSnapshot } from '../../contracts/workspace.ts';
import { type FoundEntry, openEntry, typeOf } from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS, readContent, snapshotOf } from '../descriptors/file-content.ts';
import { shownPath } from '../descriptors/path-rules.ts';
import { errnoCode } from '../errno-error.ts';

/** Reading more than this takes too long for a rename. */
const MAX_DIGEST_BYTES = 64 * 1024 * 1024;

export interface SnapshotOptions {
  /** Of the files below, when it is a folder. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

export async function snapshotEntry(entry: FoundEntry, { bytes, signal }: SnapshotOptions): Promise<FileSnapshot> {
  const { stat } = entry;
  if (!stat.isFile()) return snapshotWithoutContent(stat, bytes);
  const unread = { sha256: null, size: Number(stat.size), mode: Number(stat.mode) & PERMISSION_BITS };
  if (unread.size > MAX_DIGEST_BYTES) return unread;
  try {
    const content = await readContent(openEntry(entry, constants.O_RDONLY), {
      maxBytes: 0,
      ...(signal === undefined ? {} : { signal }),
    });
    return snapshotOf(content);
  } catch (thrown) {
    // Renaming and removing need no right to read.
    if (errnoCode(thrown) === 'EACCES') return unread;
    throw thrown;
  }
}

/** Folders, links and special files. */
export function snapshotWithoutContent(stat: BigIntStats, bytes = Number(stat.size)): FileSnapshot {
  const type = typeOf(stat);
  const size = type === 'directory' ? bytes : Number(stat.size);
  const snapshot = { sha256: null, size, mode: Number(stat.mode) & PERMISSION_BITS };
  return type === 'file' ? snapshot : { ...snapshot, type };
}

/** Null stands for "no such file". */
interface Expectation {
  readonly expected: string | null;
  readonly actual: string | null;
}

/** The refusal of a change whose precondition does not hold: it names both contents by digest. */
export function changedMeanwhile(path: string, { expected, actual }: Expectation): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `File is not what was expected: ${shown}`, {
    path: shown,
    details: {
      reason: 'precondition_failed',
      expected_sha256: expected,
      actual_sha256: actual,
      next: 'Read the file again and repeat the change on its current content',
    },
  });
}
