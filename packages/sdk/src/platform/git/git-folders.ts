/**
 * Where a workspace's repository keeps its data.
 *
 * A folder `.git` in the root is the usual case. A file `.git` names the folder of a linked work tree or submodule; it is
 * believed only when that folder names the workspace back, because a file can be planted and a folder elsewhere cannot.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { GoverningPlace } from '../../contracts/governing.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { kindOf } from '../sandbox/bubblewrap-args.ts';

export interface GitFolders {
  /** This work tree's own: HEAD, index, state of a merge. Absolute. */
  readonly gitDir: string;
  /** What all work trees share: objects, references, configuration. */
  readonly commonDir: string;
  /** Those of the two that lie outside the workspace and must be shown to git. */
  readonly outside: readonly { readonly path: string; readonly identity: string }[];
}

/** Throws E_GIT when the root holds no repository, or one that cannot be used safely. */
export function findGitFolders(workspace: string): GitFolders {
  const dotGit = join(workspace, '.git');
  const kind = kindOf(dotGit);
  if (kind === 'folder') return plainFolders(dotGit);
  if (kind === 'file') return linkedFolders(workspace, dotGit);
  if (kind === 'link') {
    throw unusable('The .git of the workspace is a link', 'linked_git_folder', 'make .git a real folder');
  }
  throw gitFailure('Workspace is not a git repository: its root has no .git', {
    reason: 'no_repository',
    next: 'open the root of a repository as the workspace; a repository above it is not used',
  });
}

/**
 * Everything the `.git` of a folder leads to, usable here or not: a git on the host may use what ours refuses.
 *
 * Missing or unreadable parts are left out.
 */
export function gitPlaces(folder: string): readonly GoverningPlace[] {
  const dotGit = join(folder, '.git');
  const named = /^gitdir: (.+?)\s*$/s.exec(readSmall(dotGit) ?? '')?.[1];
  const gitDir = named === undefined ? undefined : realFolder(resolve(folder, named));
  const common = gitDir === undefined ? undefined : readSmall(join(gitDir, 'commondir'))?.trim();
  const commonDir = gitDir === undefined || common === undefined ? undefined : realFolder(resolve(gitDir, common));
  const paths = [dotGit, gitDir, commonDir].filter((path) => path !== undefined);
  return paths.map((path) => ({ path, access: 'git' }));
}

/** A repository that is a folder of its own: throws E_GIT when it borrows data from another one. */
export function plainFolders(gitDir: string): GitFolders {
  if (kindOf(join(gitDir, 'commondir')) !== 'missing') {
    throw unusable(
      'Repository borrows its data from elsewhere: .git/commondir',
      'commondir',
      'open the main work tree',
    );
  }
  checkObjects(gitDir);
  return { gitDir, commonDir: gitDir, outside: [] };
}

function linkedFolders(workspace: string, dotGit: string): GitFolders {
  const named = /^gitdir: (.+?)\s*$/s.exec(readSmall(dotGit) ?? '')?.[1];
  const gitDir = named === undefined ? undefined : realFolder(resolve(workspace, named));
  if (gitDir === undefined) {
    throw unusable('The file .git names no folder', 'bad_git_file', 'repair it with git worktree repair');
  }
  const common = readSmall(join(gitDir, 'commondir'))?.trim();
  const commonDir = common === undefined ? undefined : realFolder(resolve(gitDir, common));
  // Git makes the folder of a work tree below the data it shares; only then the one vouches for the other.
  const isOwn = commonDir !== undefined && dirname(gitDir) === join(commonDir, 'worktrees');
  if (!isOwn || !namesBack(gitDir, dotGit)) {
    throw unusable(
      'The file .git names a folder that does not name this workspace back',
      'foreign_git_folder',
      'open the work tree where it was made (git worktree repair), or, for a submodule, the repository that holds it',
    );
  }
  checkObjects(commonDir);
  const inside = `${workspace}/`;
  const outside = [commonDir].filter((folder) => !`${folder}/`.startsWith(inside));
  return {
    gitDir,
    commonDir,
    outside: outside.map((path) => ({ path, identity: identityOf(statSync(path, { bigint: true })) })),
  };
}

/** A linked work tree's folder holds the path of the `.git` file it belongs to. */
function namesBack(gitDir: string, dotGit: string): boolean {
  const back = readSmall(join(gitDir, 'gitdir'))?.trim();
  if (back === undefined || back === '') return false;
  const target = isAbsolute(back) ? back : resolve(gitDir, back);
  return realFolder(dirname(target)) === dirname(dotGit) && target.endsWith('/.git');
}

function checkObjects(commonDir: string): void {
  if (kindOf(join(commonDir, 'objects', 'info', 'alternates')) === 'missing') return;
  throw unusable(
    'Repository borrows objects from another one: objects/info/alternates',
    'alternates',
    'copy them first: git repack -a -d, then remove objects/info/alternates',
  );
}

function unusable(message: string, reason: string, next: string) {
  return gitFailure(message, { reason, next });
}

const SMALL = 64 * 1024;

function readSmall(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= SMALL ? readFileSync(path, 'utf8') : undefined;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
