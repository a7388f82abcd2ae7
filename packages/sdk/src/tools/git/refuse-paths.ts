/** Paths that must not be staged whatever git would make of them: git's own data, files of another repository. */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../../contracts/failures.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { isListed } from '../../git/judge-config.ts';
import { cleanPath, isGlob } from '../../git/pathspec.ts';
import { shownNames } from '../../text/names.ts';
import { isThere } from './git-arguments.ts';
import { mayConvert } from './recovery/may-convert.ts';
import { toRaw } from './recovery/raw-path.ts';

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

const POINTER = Buffer.from('version https://git-lfs.github.com/spec/');

type Looking = Pick<ToolContext, 'git' | 'workspace'> & { readonly registry: Pick<Registry, 'git'> };

/**
 * Files of git-lfs must not be staged as they are: its filter, which makes pointers of them, does not run.
 *
 * Throws E_GIT when one of the paths belongs to git-lfs and is no pointer. Deleted files are fine.
 */
export async function refuseLfsContents(
  paths: readonly string[],
  { git, workspace, registry }: Looking,
): Promise<void> {
  if (isListed('filter.lfs.process', registry.git.allow_config) || paths.length === 0) return;
  if (!(await mayConvert(paths.map(toRaw), { git, workspace }))) return;
  const { stdout } = await git.run({
    words: ['check-attr', '--stdin', '-z', 'filter'],
    access: 'read',
    stdin: paths.map((path) => `${path}\0`).join(''),
  });
  const fields = stdout.toString('utf8').split('\0');
  const owned = fields.filter((_, at) => at % 3 === 0 && fields[at + 2] === 'lfs');
  const contents: string[] = [];
  for (const path of owned) {
    const stat = await workspace.stat(path);
    if (stat?.type !== 'file') continue;
    const { bytes } = await workspace.readFile(path, { maxBytes: POINTER.length });
    if (!POINTER.equals(bytes.subarray(0, POINTER.length))) contents.push(path);
  }
  if (contents.length === 0) return;
  throw gitFailure(`Files belong to git-lfs, whose filter does not run here: ${shownNames(contents)}`, {
    path: 'paths',
    reason: 'lfs_content',
    next: 'stage them with git itself, or have the operator list filter.lfs.* in git.allow_config',
    details: { paths: contents.slice(0, 100) },
  });
}
