/** Takes the raw bytes of files of the work tree, within limits, and says what it had to leave out. */
import { isToolError } from '@tool-runtime/protocol';
import type { GitRepository } from '../../../contracts/git.ts';
import type { FileStat, Workspace } from '../../../contracts/workspace.ts';
import type { BlobEntry } from './fast-import.ts';
import { createLooker, type Looker } from './look-at.ts';
import { type RawPath, toPlain } from './raw-path.ts';
import { storeAnything, storeFiles } from './read-by-git.ts';

export const MAX_FILE_BYTES = 64 * 1024 * 1024;
export const MAX_TOTAL_BYTES = 512 * 1024 * 1024;
/** Larger ones git reads itself, piece by piece. */
const INLINE_BYTES = 4 * 1024 * 1024;

export interface CapturedFile extends BlobEntry {
  /** All of them, where git keeps only one. Undefined for links and names only git can open. */
  readonly permissions?: number;
}

export interface Skipped {
  readonly path: RawPath;
  readonly size: number;
  readonly reason: 'too_large' | 'total_too_large' | 'not_readable' | 'repository';
}

export interface Captured {
  readonly files: readonly CapturedFile[];
  /** Names with nothing there. */
  readonly missing: readonly RawPath[];
  readonly skipped: readonly Skipped[];
}

interface Sorted {
  readonly files: CapturedFile[];
  readonly missing: RawPath[];
  readonly skipped: Skipped[];
  /** For git: links and names that are no text. */
  readonly odd: RawPath[];
  readonly large: { readonly path: RawPath; readonly permissions: number }[];
}

export interface CaptureParts {
  readonly git: GitRepository;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export async function captureFiles(paths: readonly RawPath[], parts: CaptureParts): Promise<Captured> {
  const { git, workspace, signal } = parts;
  const sorted: Sorted = { files: [], missing: [], skipped: [], odd: [], large: [] };
  const looker = createLooker(workspace);
  let total = 0;
  for (const path of paths) {
    signal.throwIfAborted();
    total += await capture(path, { sorted, looker, workspace, room: MAX_TOTAL_BYTES - total });
  }
  const { files, missing, skipped, odd, large } = sorted;
  const [byGit, hashes] = await Promise.all([
    storeAnything(git, odd),
    storeFiles(
      git,
      large.map(({ path }) => path),
    ),
  ]);
  const found = new Set(byGit.map(({ path }) => path));
  return {
    files: [
      ...files,
      ...byGit,
      ...large.map(({ path, permissions }, at) => ({
        path,
        permissions,
        mode: blobMode(permissions),
        content: { hash: hashes[at] ?? '' },
      })),
    ],
    missing: [...missing, ...odd.filter((path) => !found.has(path))],
    skipped,
  };
}

interface Capturing {
  readonly sorted: Sorted;
  readonly looker: Looker;
  readonly workspace: Workspace;
  readonly room: number;
}

/** Answers how many bytes it took. */
async function capture(path: RawPath, { sorted, looker, workspace, room }: Capturing): Promise<number> {
  const plain = toPlain(path);
  const stat = plain === undefined ? undefined : await looker.at(plain);
  if (plain === undefined || stat?.type === 'symlink') {
    sorted.odd.push(path);
    return 0;
  }
  if (stat === undefined || stat === null || stat.type !== 'file') {
    sorted.missing.push(path);
    return 0;
  }
  const reason = refusal(stat, room);
  if (reason !== undefined) {
    sorted.skipped.push({ path, size: stat.size, reason });
    return 0;
  }
  if (stat.size > INLINE_BYTES) sorted.large.push({ path, permissions: stat.mode });
  else await captureBytes(path, plain, { sorted, workspace, stat });
  return stat.size;
}

function refusal({ size }: FileStat, room: number): Skipped['reason'] | undefined {
  if (size > MAX_FILE_BYTES) return 'too_large';
  return size > room ? 'total_too_large' : undefined;
}

async function captureBytes(
  path: RawPath,
  plain: string,
  { sorted, workspace, stat }: { sorted: Sorted; workspace: Workspace; stat: FileStat },
): Promise<void> {
  try {
    const { bytes, mode } = await workspace.readFile(plain);
    sorted.files.push({ path, permissions: mode, mode: blobMode(mode), content: { bytes } });
  } catch (thrown) {
    // E_POLICY: a token or socket of the runtime. No verb touches it.
    if (!isToolError(thrown) || (thrown.code !== 'E_FILE_IO' && thrown.code !== 'E_POLICY')) throw thrown;
    sorted.skipped.push({ path, size: stat.size, reason: 'not_readable' });
  }
}

function blobMode(permissions: number): '100644' | '100755' {
  return (permissions & 0o100) === 0 ? '100644' : '100755';
}
