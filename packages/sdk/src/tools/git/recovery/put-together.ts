/**
 * Puts files of version control into the work tree in one commit, so that a kill leaves all of them or none.
 *
 * For regular files under plain names, where a file or nothing is. Everything else is written one by one, or by git.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { FileWrite } from '../../../contracts/workspace.ts';
import { createLooker, type Looker } from './look-at.ts';
import { type RawPath, toPlain } from './raw-path.ts';
import { readStored } from './read-recovery.ts';
import type { RecoveryContext } from './save-recovery.ts';

/** More is not held in memory at once. */
const MAX_FILES = 5000;
const MAX_BYTES = 64 * 1024 * 1024;

export interface WantedFile {
  readonly path: RawPath;
  /** Null: no file is to be there. */
  readonly blob: { readonly hash: string; readonly size: number } | null;
  readonly mode: number;
}

type Putting = Pick<RecoveryContext, 'git' | 'workspace'>;

/** Answers those that it wrote; none when the commit was refused, and then nothing has changed. */
export async function putTogether(context: Putting, wanted: readonly WantedFile[]): Promise<ReadonlySet<RawPath>> {
  const { git, workspace } = context;
  const bytes = wanted.reduce((sum, { blob }) => sum + (blob?.size ?? 0), 0);
  if (workspace.writeAll === undefined || wanted.length > MAX_FILES || bytes > MAX_BYTES) return new Set();
  const looker = createLooker(workspace);
  const places = new Map<RawPath, Pick<FileWrite, 'path' | 'expectedSha256'>>();
  for (const { path } of wanted) {
    const place = await placeOf(path, { looker, workspace });
    if (place !== undefined) places.set(path, place);
  }
  const writes: FileWrite[] = [];
  const stored = wanted.flatMap(({ path, blob, mode }) => (blob === null ? [] : [{ ...blob, path, mode }]));
  for await (const { blob, bytes: content } of readStored(git, stored)) {
    const place = places.get(blob.path);
    if (place !== undefined) writes.push({ ...place, bytes: content, mode: blob.mode, forceMode: true });
  }
  for (const { path, blob } of wanted) {
    const place = places.get(path);
    if (blob === null && place?.expectedSha256 != null) writes.push({ ...place, bytes: null });
  }
  try {
    if (writes.length > 0) await workspace.writeAll(writes, { isRestored: true });
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.details['reason'] === 'partly_changed') throw thrown;
    return new Set();
  }
  return new Set(places.keys());
}

/** Undefined where something else than a file is, or is in the way. */
async function placeOf(
  path: RawPath,
  { looker, workspace }: { readonly looker: Looker; readonly workspace: Putting['workspace'] },
): Promise<Pick<FileWrite, 'path' | 'expectedSha256'> | undefined> {
  const plain = toPlain(path);
  if (plain === undefined || (await looker.blockOf(plain)) !== undefined) return undefined;
  const stat = await looker.at(plain);
  if (stat === null) return { path: plain, expectedSha256: null };
  if (stat.type !== 'file') return undefined;
  const { sha256 } = await workspace.readFile(plain, { maxBytes: 0 });
  return { path: plain, expectedSha256: sha256 };
}
