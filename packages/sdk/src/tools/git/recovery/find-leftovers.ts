/**
 * Files a killed git had begun to write: new names of the tree it was going to, holding that content or its beginning.
 * Git writes under the final name, so that half of one is possible.
 */
import type { ChangedFile, GitRepository } from '../../../contracts/git.ts';
import type { Workspace } from '../../../contracts/workspace.ts';
import { readBatchCheck } from '../../../git/read-batch.ts';
import { createLooker } from './look-at.ts';
import { type RawPath, toPlain } from './raw-path.ts';
import { readStored } from './read-recovery.ts';

interface Begun {
  readonly path: RawPath;
  readonly plain: string;
  readonly hash: string;
  readonly size: number;
}

export async function findLeftovers(
  candidates: readonly ChangedFile[],
  { git, workspace }: { readonly git: GitRepository; readonly workspace: Workspace },
): Promise<readonly RawPath[]> {
  const looker = createLooker(workspace);
  const left: RawPath[] = [];
  const regular: Omit<Begun, 'size'>[] = [];
  for (const { path, mode, blob } of candidates) {
    const plain = toPlain(path);
    if (plain === undefined || blob === undefined) continue;
    const stat = await looker.at(plain);
    if (stat?.type === 'symlink' && mode === '120000') left.push(path);
    else if (stat?.type === 'file' && mode !== '120000') regular.push({ path, plain, hash: blob });
  }
  for await (const { blob, bytes } of readStored(git, await withSizes(git, regular))) {
    const present = await workspace.readFile(blob.plain);
    if (isBeginning(present.bytes, bytes)) left.push(blob.path);
  }
  return left;
}

async function withSizes(git: GitRepository, files: readonly Omit<Begun, 'size'>[]): Promise<readonly Begun[]> {
  if (files.length === 0) return [];
  const names = files.map(({ hash }) => hash);
  const { stdout } = await git.run({
    words: ['cat-file', '--batch-check'],
    access: 'read',
    stdin: `${names.join('\n')}\n`,
  });
  const found = readBatchCheck(stdout.toString('latin1'), names);
  return files.flatMap((file, at) => (found[at]?.hash === undefined ? [] : [{ ...file, size: found[at].size }]));
}

/** Ends of lines may have been converted on the way. */
function isBeginning(present: Uint8Array, whole: Uint8Array): boolean {
  const [part, full] = [withoutReturns(present), withoutReturns(whole)];
  return part.length <= full.length && part.equals(full.subarray(0, part.length));
}

function withoutReturns(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.includes(0x0d) ? bytes.filter((byte) => byte !== 0x0d) : bytes);
}
