/** Callers' paths as pathspecs. A name with `*`, `?`, `[` or `{` in it means itself where there is such a file. */
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '../../contracts/workspace.ts';
import { globPathspecs, isGlob, literalPathspec } from '../../git/pathspec.ts';

type Looker = Pick<Workspace, 'stat'>;

/** For looking only: a glob that is no file's name now may have been one in an earlier revision, so both are meant. */
export async function pathspecsOf(paths: readonly string[], workspace: Looker): Promise<readonly string[]> {
  const exact = await exactNames(paths, workspace);
  const absent = paths.filter((path) => !exact.has(path));
  return [...globPathspecs(paths, (path) => exact.has(path)), ...absent.map(literalPathspec)];
}

/** Those of the paths that are meant literally. */
export async function exactNames(paths: readonly string[], workspace: Looker): Promise<ReadonlySet<string>> {
  const exact = new Set<string>();
  for (const path of paths) if (!isGlob(path) || (await isThere(path, workspace))) exact.add(path);
  return exact;
}

export async function isThere(path: string, workspace: Looker): Promise<boolean> {
  try {
    return (await workspace.stat(path)) !== null;
  } catch (thrown) {
    // Behind a link, too long, not readable: not a file of this name that git could mean.
    if (isToolError(thrown)) return false;
    throw thrown;
  }
}
