/** Paths that must not be staged whatever git would make of them: git's own data, files of another repository. */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../../contracts/failures.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { cleanPath, isGlob } from '../../git/pathspec.ts';
import { isThere } from './pathspecs-of.ts';

/** Throws E_POLICY for a path into `.git`, in any spelling of its letters. */
export function refuseGitData(path: string): void {
  if (
    !cleanPath(path)
      .split('/')
      .some((part) => part.toLowerCase() === '.git')
  )
    return;
  throw policyDenial(`Path is git's own data: ${safeText(path, 120)}`, {
    path: 'paths',
    details: {
      rule: 'sec.paths.sandbox',
      reason: 'protected_name',
      next: 'name files of the work tree',
    },
  });
}

/** Throws E_GIT when a folder above a path, or above the first wildcard of a glob, is a repository of its own. */
export async function refuseInsideRepository(
  paths: readonly string[],
  exact: ReadonlySet<string>,
  workspace: Pick<Workspace, 'stat'>,
): Promise<void> {
  const folders = new Map(
    paths.flatMap((path) => foldersAbove(path, exact.has(path)).map((folder) => [folder, path] as const)),
  );
  for (const [folder, path] of folders) {
    if (await isRepository(folder, workspace)) throw insideRepository(path, folder);
  }
}

function foldersAbove(path: string, isExact: boolean): readonly string[] {
  const parts = cleanPath(path).split('/');
  const wild = isExact ? -1 : parts.findIndex(isGlob);
  const depth = wild < 0 ? parts.length - 1 : wild;
  return Array.from({ length: depth }, (_, index) => parts.slice(0, index + 1).join('/'));
}

/** A submodule has a file `.git`, an ordinary repository a folder with a HEAD in it. */
async function isRepository(folder: string, workspace: Pick<Workspace, 'stat'>): Promise<boolean> {
  const stat = (await isThere(`${folder}/.git`, workspace)) ? await workspace.stat(`${folder}/.git`) : null;
  return stat?.type === 'file' || (stat?.type === 'directory' && (await isThere(`${folder}/.git/HEAD`, workspace)));
}

function insideRepository(path: string, folder: string): ToolError {
  return gitFailure(`Path lies in another repository: ${safeText(path, 120)}`, {
    path: 'paths',
    reason: 'nested_repository',
    next: `open ${safeText(folder, 120)} as a workspace of its own and stage there`,
    details: { repository: safeText(folder, 120) },
  });
}

export function refuseRepository(folder: string): ToolError {
  return gitFailure(`Path is another repository: ${safeText(folder, 120)}`, {
    path: 'paths',
    reason: 'nested_repository',
    next: 'list it in .gitignore, or make it a submodule outside of this tool',
    details: { repository: safeText(folder, 120) },
  });
}
