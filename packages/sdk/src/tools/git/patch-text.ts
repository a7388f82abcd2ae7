/** What every diff is asked for with, whatever the repository's configuration prefers, and the schema of its answer. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { gitFailure } from '../../git/git-failure.ts';
import { type DiffFile, type ParsedDiff, parseDiff } from '../../git/parse-diff.ts';

/** Lists of files come before the patch and need room of their own. */
export const LIST_BYTES = 16 * 1024 * 1024;
export const MAX_FILES = 10_000;

export const DIFF_WORDS: readonly string[] = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--find-renames',
  '--inter-hunk-context=0',
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--no-abbrev',
  '-z',
  '--raw',
  '--numstat',
];

export const maxBytes = z
  .int()
  .min(1)
  .max(16 * 1024 * 1024)
  .default(1024 * 1024)
  .describe('Bytes of the patch at most; a longer one is cut after a whole line');

export const contextLines = z.int().min(0).max(1000).default(3).describe('Unchanged lines around each change');

export const patchFile = z.strictObject({
  path: z.string(),
  from: z.string().optional().describe('Former name of a renamed or copied file'),
  status: z.enum(['unchanged', 'added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed', 'unmerged']),
  additions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
});

/** Throws E_GIT when not even the list of files came through. */
export function readDiff(output: Buffer, { isCut }: { isCut: boolean }): ParsedDiff {
  const parsed = parseDiff(output);
  if (!isCut || parsed.patch !== undefined) return parsed;
  throw gitFailure('Too many files differ', {
    path: 'paths',
    reason: 'too_large',
    next: 'name fewer paths or revisions closer to each other',
  });
}

export function listedFiles(files: readonly DiffFile[]): DiffFile[] {
  return files.slice(0, MAX_FILES);
}

const NEWLINE = 0x0a;

interface PatchText {
  readonly patch: string;
  readonly truncated: boolean;
  /** Present when bytes that are no UTF-8 were replaced. */
  readonly lossy?: true;
}

/** A patch as text of limited length: cut after a whole line, with bytes that are not UTF-8 replaced and reported. */
export function patchText(bytes: Buffer, { maxBytes, isCut }: { maxBytes: number; isCut: boolean }): PatchText {
  const truncated = isCut || bytes.length > maxBytes;
  const within = bytes.subarray(0, maxBytes);
  const kept = truncated ? within.subarray(0, within.lastIndexOf(NEWLINE) + 1) : within;
  return { patch: kept.toString('utf8'), truncated, ...(isUtf8(kept) ? {} : { lossy: true as const }) };
}
