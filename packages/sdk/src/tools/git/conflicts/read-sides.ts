/** Contents of the sides of unmerged files: sizes of all, texts of those that are short enough, in two runs of git. */
import type { GitRepository } from '../../../contracts/git.ts';
import { readBatch, readBatchCheck } from '../../../git/read-batch.ts';
import { decodeText, detectEncoding } from '../../../text/encoding.ts';
import type { Stage, UnmergedFile } from './parse-unmerged.ts';

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
