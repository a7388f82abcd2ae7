/**
 * Reports files of the work tree that git changed, so that the code index and the rules that look afterwards see them.
 * Only that they changed is known, not their contents.
 */
import type { ChangedFile, GitRepository } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { FileSnapshot, Workspace } from '../../contracts/workspace.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { parseRawDiff } from '../../git/parse-diff.ts';
import { emptyTree } from '../../git/resolve-revisions.ts';
import { createLooker, type Looker } from './recovery/look-at.ts';
import { type RawPath, toPlain, toShown } from './recovery/raw-path.ts';

type Reporter = Pick<ToolContext, 'changed'>;

const SUBMODULE = '160000';
const LINK = '120000';

/** From one commit or tree to another; null means nothing. Returns what it reported, with raw paths. */
export async function reportChanges(
  git: GitRepository,
  context: Reporter,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<readonly ChangedFile[]> {
  const files = from === to ? [] : await touchedFiles(git, from, to);
  reportFiles(context, files);
  return files;
}

/** Everything in the work tree that is not as HEAD has it, for verbs that leave changes. */
export async function reportDirty(git: GitRepository, context: Reporter): Promise<void> {
  const { stdout } = await git.run({
    words: [
      'diff-index',
      '-r',
      '-z',
      '--raw',
      '--no-abbrev',
      '--no-renames',
      '--ignore-submodules=dirty',
      'HEAD',
      '--',
    ],
    access: 'read',
  });
  reportFiles(context, parseRawDiff(stdout.toString('latin1')));
}

/** Files that are known already. Submodules are not looked into. */
export function reportFiles({ changed }: Reporter, files: readonly ChangedFile[]): void {
  for (const { path, kind, mode } of files) {
    if (mode === SUBMODULE) continue;
    const after = kind === 'deleted' ? null : snapshot(mode);
    changed({ path: toShown(path), before: kind === 'added' ? null : snapshot('100644'), after });
  }
}

/** Names whose fate is to be looked up. */
export async function reportPaths(
  { changed, workspace }: Reporter & Pick<ToolContext, 'workspace'>,
  paths: Iterable<RawPath>,
): Promise<void> {
  const looker = createLooker(workspace);
  for (const path of paths) {
    const plain = toPlain(path);
    const stat = plain === undefined ? null : await looker.at(plain);
    const isThere = stat !== null && stat.type !== 'directory';
    const mode = stat?.type === 'symlink' ? LINK : stat !== null && (stat.mode & 0o100) !== 0 ? '100755' : '100644';
    changed({ path: toShown(path), before: snapshot('100644'), after: isThere ? snapshot(mode) : null });
  }
}

function snapshot(mode: string): FileSnapshot {
  const permissions = Number.parseInt(mode, 8) & 0o777;
  return { sha256: null, size: 0, mode: permissions, ...(mode === LINK ? { type: 'symlink' as const } : {}) };
}

/**
 * Which files a verb that goes from HEAD to another tree will write, and which files of the work tree are in its way.
 *
 * Paths are raw: one character a byte. `from` and `to` are hashes, or HEAD.
 */
export async function touchedFiles(
  git: GitRepository,
  from: string | null,
  to: string,
): Promise<readonly ChangedFile[]> {
  const base = from ?? emptyTree(await git.config());
  const { stdout } = await git.run({
    words: ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', base, to],
    access: 'read',
  });
  return parseRawDiff(stdout.toString('latin1'));
}

const SHOWN = 20;

/**
 * Throws E_GIT when a file git would create is there already. Git itself spares untracked files but writes over ignored
 * ones, and those are saved nowhere.
 */
export async function refuseOverwriting(
  touched: readonly ChangedFile[],
  tracked: ReadonlySet<string>,
  workspace: Workspace,
): Promise<void> {
  const looker = createLooker(workspace);
  const leaving = new Set(touched.filter(({ kind }) => kind === 'deleted').map(({ path }) => toPlain(path) ?? ''));
  const blocking: string[] = [];
  for (const { kind, path } of touched) {
    const plain = toPlain(path);
    if (kind !== 'added' || plain === undefined || tracked.has(path)) continue;
    const block = await blockOf(plain, looker, leaving);
    if (block !== undefined) blocking.push(block);
    if (blocking.length === SHOWN) break;
  }
  if (blocking.length === 0) return;
  throw gitFailure(`Untracked files are in the way: ${blocking.slice(0, 3).join(', ')}`, {
    reason: 'in_the_way',
    next: 'move or delete these files; they are untracked or ignored and would be overwritten',
    details: { paths: blocking },
  });
}

async function blockOf(path: string, looker: Looker, leaving: ReadonlySet<string>): Promise<string | undefined> {
  const above = await looker.blockOf(path);
  if (above !== undefined) return leaving.has(above) ? undefined : above;
  const stat = await looker.at(path);
  if (stat === null) return undefined;
  if (stat.type !== 'directory') return path;
  return (await looker.below(path)).find((file) => !leaving.has(file));
}
