/**
 * Contents of changed files from git's store. A few that lie there as files, as everything staged lately does, are read
 * at once; the others in one process where they fit, in several where they do not.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ChangedFile, GitRepository } from '../contracts/git.ts';
import { readLooseObject } from '../git/head-commit.ts';
import { readBatch, readBatchCheck } from '../git/read-batch.ts';

const AT_ONCE_BYTES = 64 * 1024 * 1024;
const LARGEST = 512 * 1024 * 1024;
/** More are better read by git. */
const FEW = 32;
const LARGEST_LOOSE = 4 * 1024 * 1024;
const SUBMODULE = '160000';

interface Content {
  readonly file: ChangedFile;
  readonly bytes: Uint8Array;
}

export async function* readBlobs(
  git: GitRepository,
  files: readonly ChangedFile[],
  signal: AbortSignal,
): AsyncGenerator<Content> {
  const wanted = files.filter((file) => file.blob !== undefined && file.mode !== SUBMODULE);
  const loose = wanted.length > FEW ? [] : await readLoose(git, wanted);
  yield* loose;
  const left = wanted.filter((file) => !loose.some((one) => one.file === file));
  if (left.length === 0) return;
  const together = await readTogether(git, left, signal);
  if (together !== undefined) {
    yield* together;
    return;
  }
  for (const group of await groupBySize(git, left, signal)) {
    yield* (await readGroup(git, group, { signal, maxBytes: LARGEST })) ?? [];
  }
}

async function readLoose({ files }: GitRepository, wanted: readonly ChangedFile[]): Promise<readonly Content[]> {
  const found = await Promise.all(wanted.map(({ blob = '' }) => readLooseObject(files, blob, LARGEST_LOOSE)));
  return wanted.flatMap((file, at) => {
    const object = found[at];
    return object?.type === 'blob' ? [{ file, bytes: object.bytes }] : [];
  });
}

function readTogether(git: GitRepository, files: readonly ChangedFile[], signal: AbortSignal) {
  return readGroup(git, files, { signal, maxBytes: AT_ONCE_BYTES });
}

/** Undefined when they are too much for one answer. */
async function readGroup(
  git: GitRepository,
  files: readonly ChangedFile[],
  { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<readonly Content[] | undefined> {
  const names = files.map(({ blob = '' }) => blob);
  try {
    const { stdout } = await git.run({
      words: ['cat-file', '--batch'],
      access: 'read',
      stdin: `${names.join('\n')}\n`,
      maxBytes,
      signal,
    });
    return matched(files, [...readBatch(stdout, names)]);
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'too_large') return undefined;
    throw thrown;
  }
}

function matched(
  files: readonly ChangedFile[],
  objects: readonly { name: string; bytes: Buffer }[],
): readonly Content[] {
  const byName = new Map(objects.map(({ name, bytes }) => [name, bytes]));
  return files.flatMap((file) => {
    const bytes = byName.get(file.blob ?? '');
    return bytes === undefined ? [] : [{ file, bytes }];
  });
}

async function groupBySize(
  git: GitRepository,
  files: readonly ChangedFile[],
  signal: AbortSignal,
): Promise<readonly (readonly ChangedFile[])[]> {
  const names = files.map(({ blob = '' }) => blob);
  const stdin = `${names.join('\n')}\n`;
  const { stdout } = await git.run({ words: ['cat-file', '--batch-check'], access: 'read', stdin, signal });
  const sizes = readBatchCheck(stdout.toString('utf8'), names);
  const groups: ChangedFile[][] = [];
  let filled = AT_ONCE_BYTES;
  for (const [index, file] of files.entries()) {
    const size = sizes[index]?.size ?? 0;
    if (filled + size > AT_ONCE_BYTES / 2) {
      groups.push([]);
      filled = 0;
    }
    groups.at(-1)?.push(file);
    filled += size;
  }
  return groups;
}
