/**
 * Restores files of the work tree in one commit where their content is what git has in its store: regular files without
 * conversion (attributes, line endings). Links, names that are no UTF-8 and everything that git converts are left to git.
 */
import type { GitRepository } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { literalPathspec } from '../../git/pathspec.ts';
import { readBatchCheck } from '../../git/read-batch.ts';
import { mayConvert } from './recovery/may-convert.ts';
import { removeEmptyFolders } from './recovery/put-files.ts';
import { putTogether, type WantedFile } from './recovery/put-together.ts';
import { type RawPath, toPlain } from './recovery/raw-path.ts';

const MAX_PATHS = 1000;
const ATTRIBUTES = /(^|\/)\.gitattributes$/;
const MODES: Readonly<Record<string, number>> = { '100644': 0o644, '100755': 0o755 };

/** False: nothing was written, and git has to. `source`: a commit, or undefined for the index. */
export async function restoreTogether(
  context: Pick<ToolContext, 'git' | 'workspace'>,
  source: string | undefined,
  paths: readonly RawPath[],
): Promise<boolean> {
  if (paths.length === 0 || paths.length > MAX_PATHS) return false;
  // `ls-tree` takes a colon in front for more than a name.
  if (paths.some((path) => toPlain(path) === undefined || path.startsWith(':') || ATTRIBUTES.test(path))) return false;
  if (await mayConvert(paths, context)) return false;
  const wanted = await wantedFiles(context, source, paths);
  if (wanted === undefined) return false;
  const written = await putTogether(context, wanted);
  if (written.size === 0) return false;
  for (const { path, blob } of wanted) if (blob === null) await removeEmptyFolders(context, toPlain(path) ?? '');
  return true;
}

/** Undefined when one of them is no regular file, is unmerged, or cannot be put where it belongs. */
async function wantedFiles(
  { git, workspace }: Pick<ToolContext, 'git' | 'workspace'>,
  source: string | undefined,
  paths: readonly RawPath[],
): Promise<readonly WantedFile[] | undefined> {
  const entries = await entriesOf(git, source, paths);
  if (entries === undefined) return undefined;
  const hashes = [...new Set([...entries.values()].map(({ hash }) => hash))];
  const sizes = new Map((await sizesOf(git, hashes)).map(({ name, size }) => [name, size]));
  const wanted: WantedFile[] = [];
  for (const path of paths) {
    const entry = entries.get(path);
    const now = await workspace.stat(toPlain(path) ?? '');
    if (now !== null && now.type !== 'file') return undefined;
    if (entry === undefined) {
      if (now !== null) wanted.push({ path, blob: null, mode: 0 });
      continue;
    }
    const mode = MODES[entry.mode];
    if (mode === undefined) return undefined;
    // Git knows one of the bits; the others stay as they are.
    const isSame = now !== null && (now.mode & 0o100) === (mode & 0o100);
    wanted.push({
      ...{ path, mode: isSame ? now.mode : mode },
      blob: { hash: entry.hash, size: sizes.get(entry.hash) ?? 0 },
    });
  }
  return wanted;
}

interface Entry {
  readonly mode: string;
  readonly hash: string;
}

/** Lines of `ls-tree` and of `ls-files --stage`: mode, then type or stage in either order, a tab and the path. */
async function entriesOf(
  git: GitRepository,
  source: string | undefined,
  paths: readonly RawPath[],
): Promise<ReadonlyMap<RawPath, Entry> | undefined> {
  const names = paths.map((path) => toPlain(path) ?? '');
  const words =
    source === undefined
      ? ['ls-files', '--stage', '-z', '--', ...names.map(literalPathspec)]
      : ['ls-tree', '-r', '-z', '--full-tree', source, '--', ...names];
  const { stdout } = await git.run({ words, access: 'read' });
  const asked = new Set(paths);
  const entries = new Map<RawPath, Entry>();
  for (const line of stdout.toString('latin1').split('\0')) {
    const path = line.slice(line.indexOf('\t') + 1);
    if (line === '' || !asked.has(path)) continue;
    const [mode = '', second = '', third = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    if (source === undefined && third !== '0') return undefined;
    entries.set(path, { mode, hash: source === undefined ? second : third });
  }
  return entries;
}

async function sizesOf(git: GitRepository, hashes: readonly string[]) {
  if (hashes.length === 0) return [];
  const { stdout } = await git.run({
    words: ['cat-file', '--batch-check'],
    access: 'read',
    stdin: hashes.map((hash) => `${hash}\n`).join(''),
  });
  return readBatchCheck(stdout.toString('latin1'), hashes);
}
