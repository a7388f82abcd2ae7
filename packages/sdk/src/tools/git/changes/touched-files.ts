/** Which files a verb that goes from HEAD to another tree will write, and which files of the work tree are in its way. */
import type { ChangedFile, GitRepository } from '../../../contracts/git.ts';
import type { Workspace } from '../../../contracts/workspace.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { parseRawDiff } from '../../../git/parse-diff.ts';
import { emptyTree } from '../../../git/resolve-revisions.ts';
import { createLooker, type Looker } from '../recovery/look-at.ts';
import { toPlain } from '../recovery/raw-path.ts';

/** Paths are raw: one character a byte. `from` and `to` are hashes, or HEAD. */
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
