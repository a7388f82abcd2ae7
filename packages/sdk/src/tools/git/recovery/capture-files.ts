/** Takes the raw bytes of files of the work tree, within limits, and says what it had to leave out. */
import { randomBytes } from 'node:crypto';
import { isToolError } from '@tool-runtime/protocol';
import type { GitRepository } from '../../../contracts/git.ts';
import type { FileStat, Workspace } from '../../../contracts/workspace.ts';
import type { BlobEntry, BlobMode } from './fast-import.ts';
import { createLooker, type Looker } from './look-at.ts';
import { quoted, type RawPath, toPlain } from './raw-path.ts';

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

/**
 * Files git itself puts into its store: links, whose text no tool can read, names that are no text, and large files, which
 * would have to be held in memory otherwise. Bytes go in as they are: no end of line is converted.
 *
 * Raw content of regular files, in order.
 */
export async function storeFiles(git: GitRepository, paths: readonly RawPath[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const { stdout } = await git.run({
    words: ['hash-object', '-w', '--no-filters', '--stdin-paths'],
    access: 'write',
    stdin: paths.map((path) => `${quoted(path)}\n`).join(''),
  });
  return stdout.toString('latin1').trim().split('\n');
}

/** What is there under these names, whatever it is; names that lead nowhere are left out. */
async function storeAnything(git: GitRepository, paths: readonly RawPath[]): Promise<readonly BlobEntry[]> {
  if (paths.length === 0) return [];
  const found = await withTemporaryIndex(git, (index) => indexed(git, index, paths));
  const regular = found.filter(({ mode }) => mode !== '120000');
  const hashes = await storeFiles(
    git,
    regular.map(({ path }) => path),
  );
  const raw = new Map(regular.map(({ path }, at) => [path, hashes[at] ?? '']));
  return found.map(({ path, mode, hash }) => ({ path, mode, content: { hash: raw.get(path) ?? hash } }));
}

interface Indexed {
  readonly path: RawPath;
  readonly mode: BlobMode;
  readonly hash: string;
}

async function indexed(git: GitRepository, index: string, paths: readonly RawPath[]): Promise<readonly Indexed[]> {
  await git.run({
    words: ['update-index', '--add', '--remove', '-z', '--stdin'],
    access: 'write',
    index,
    stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    // Mixed ends of line do not matter here: the filtered form is thrown away.
    env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.safecrlf', GIT_CONFIG_VALUE_0: 'false' },
  });
  const { stdout } = await git.run({ words: ['ls-files', '-s', '-z'], access: 'read', index });
  return stdout
    .toString('latin1')
    .split('\0')
    .flatMap((record) => {
      const [, mode, hash = '', path = ''] = /^(100644|100755|120000) ([0-9a-f]+) 0\t(.+)$/s.exec(record) ?? [];
      return mode === undefined ? [] : [{ path, hash, mode: mode as BlobMode }];
    });
}

/** Index files of our own in the git folder, for what only git can read or write: links, and names that are no text. */
export async function withTemporaryIndex<T>(git: GitRepository, use: (index: string) => Promise<T>): Promise<T> {
  const index = `tool-runtime-${randomBytes(8).toString('hex')}.index`;
  try {
    return await use(index);
  } finally {
    await git.files.remove(index);
    await git.files.remove(`${index}.lock`);
  }
}
