/**
 * Reports files of the work tree that git changed, so that the code index and the rules that look afterwards see them.
 * Only that they changed is known, not their contents.
 */
import type { ChangedFile, GitRepository } from '../../../contracts/git.ts';
import type { ToolContext } from '../../../contracts/tool.ts';
import type { FileSnapshot } from '../../../contracts/workspace.ts';
import { parseRawDiff } from '../../../git/parse-diff.ts';
import { createLooker } from '../recovery/look-at.ts';
import { type RawPath, toPlain, toShown } from '../recovery/raw-path.ts';
import { touchedFiles } from './touched-files.ts';

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
