/** Contents of the sides of unmerged files: sizes of all, texts of those that are short enough, in two runs of git. */
import type { GitRepository } from '../../contracts/git.ts';
import { readBatch, readBatchCheck } from '../../git/read-batch.ts';
import { decodeText, detectEncoding } from '../../text/encoding.ts';

/** All texts of one answer together. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
const SUBMODULE = '160000';

export interface Side extends Stage {
  readonly size: number;
  readonly text?: string;
}

export interface Sides {
  of(stage: Stage): Side;
  isBinary(stage: Stage): boolean;
}

export async function readSides(git: GitRepository, files: readonly UnmergedFile[], maxBytes: number): Promise<Sides> {
  const stages = files.flatMap((file) => file.stages).filter((stage) => stage !== null && stage.mode !== SUBMODULE);
  const blobs = [...new Set(stages.flatMap((stage) => stage?.blob ?? []))];
  const sizes = await sizesOf(git, blobs);
  const texts = await textsOf(git, within(blobs, sizes, maxBytes));
  return {
    of(stage) {
      const text = texts.get(stage.blob);
      return { ...stage, size: sizes.get(stage.blob) ?? 0, ...(typeof text === 'string' ? { text } : {}) };
    },
    isBinary: ({ blob }) => texts.get(blob) === null,
  };
}

async function sizesOf(git: GitRepository, blobs: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (blobs.length === 0) return new Map();
  const stdin = blobs.map((blob) => `${blob}\n`).join('');
  const { stdout } = await git.run({ words: ['cat-file', '--batch-check'], access: 'read', stdin });
  return new Map(readBatchCheck(stdout.toString('utf8'), blobs).map(({ name, size }) => [name, size]));
}

function within(blobs: readonly string[], sizes: ReadonlyMap<string, number>, maxBytes: number): readonly string[] {
  let total = 0;
  return blobs.filter((blob) => {
    const size = sizes.get(blob) ?? 0;
    if (size > maxBytes || total + size > MAX_TEXT_BYTES) return false;
    total += size;
    return true;
  });
}

/** Null for bytes that are no text. */
async function textsOf(git: GitRepository, blobs: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  if (blobs.length === 0) return new Map();
  const stdin = blobs.map((blob) => `${blob}\n`).join('');
  const { stdout } = await git.run({ words: ['cat-file', '--batch'], access: 'read', stdin });
  return new Map([...readBatch(stdout, blobs)].map(({ name, bytes }) => [name, textOf(bytes)]));
}

function textOf(bytes: Buffer): string | null {
  const { encoding } = detectEncoding(bytes);
  return encoding === 'binary' ? null : (decodeText(bytes, encoding) ?? null);
}

export const CONFLICT_KINDS = [
  'both_deleted',
  'added_by_us',
  'deleted_by_them',
  'added_by_them',
  'deleted_by_us',
  'both_added',
  'both_modified',
] as const;
type ConflictKind = (typeof CONFLICT_KINDS)[number];

interface Stage {
  readonly mode: string;
  readonly blob: string;
}

interface UnmergedFile {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Base, ours, theirs. */
  readonly stages: readonly (Stage | null)[];
}

/** Reads `git ls-files --unmerged -z`: up to three entries a file, and which of them are there says what happened. */
export function parseUnmerged(output: string): readonly UnmergedFile[] {
  const files = new Map<string, (Stage | null)[]>();
  for (const record of output.split('\0')) {
    const [, mode = '', blob = '', stage = '', path = ''] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    if (path === '') continue;
    const stages = files.get(path) ?? [null, null, null];
    stages[Number(stage) - 1] = { mode, blob };
    files.set(path, stages);
  }
  return [...files].map(([path, stages]) => ({ path, kind: kindOf(stages), stages }));
}

/** One bit for each side that has the file: base 1, ours 2, theirs 4. */
function kindOf(stages: readonly (Stage | null)[]): ConflictKind {
  const bits = stages.reduce((sum, stage, index) => sum + (stage === null ? 0 : 1 << index), 0);
  return CONFLICT_KINDS[bits - 1] ?? 'both_modified';
}
