/** Arguments several git tools share, described once. */
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { Workspace } from '../../contracts/workspace.ts';
import { globPathspecs, isGlob, literalPathspec } from '../../git/pathspec.ts';

const MAX_PATHS = 1000;

export const revision = z
  .string()
  .min(1)
  .describe('Branch, tag, hash or expression such as HEAD~2 or @{upstream}; never begins with a dash');

export const paths = z
  .array(z.string().min(1))
  .max(MAX_PATHS)
  .describe('Files, folders or globs such as src/**/*.ts, relative to the workspace root');

/** A single line that git gets inside one word of its own. */
export const plainText = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\x00-\x1f\x7f]*$/, 'one line without control characters');

const person = z.strictObject({
  name: z.string(),
  email: z.string(),
  date: z.string().describe('ISO 8601 with the offset it was written with'),
});

/** A commit as the git tools answer it. */
export const commitShape = {
  hash: z.string(),
  parents: z.array(z.string()).readonly(),
  author: person,
  committer: person,
  subject: z.string(),
  body: z.string().describe('Message without its subject'),
  refs: z
    .array(z.string())
    .readonly()
    .describe('Full names of branches and tags that point here; HEAD where it is checked out'),
};

type Looker = Pick<Workspace, 'stat'>;

/**
 * Callers' paths as pathspecs. A name with `*`, `?`, `[` or `{` in it means itself where there is such a file.
 *
 * For looking only: a glob that is no file's name now may have been one in an earlier revision, so both are meant.
 */
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
