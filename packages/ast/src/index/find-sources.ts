/** The source files of a part of the workspace, as listings show it: without what is hidden, ignored or foreign. */
import type { Workspace } from '@tool-runtime/sdk';
import { type LanguageFinder, mayBeScript } from './language-finder.ts';
import { slices } from './time-slices.ts';

/** A part of the workspace that a caller wanted indexed. Remembered, so that files made later are found. */
export interface Scope {
  /** Empty: everything. */
  readonly globs: readonly string[];
  readonly language: string | undefined;
  readonly maxFiles: number;
}

export interface SourceListing {
  /** Sorted; at most `maxFiles` of the scope. */
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

export interface FindParts {
  readonly workspace: Workspace;
  readonly languages: LanguageFinder;
}

const MAX_NAMES = 1_000_000;

/** Throws the signal's reason; E_VALIDATION_FAIL for a malformed glob. */
export async function findSources(
  scope: Scope,
  parts: FindParts,
  signal: AbortSignal | undefined,
): Promise<SourceListing> {
  const { workspace, languages } = parts;
  const pace = slices(signal);
  const listed = await workspace.list({
    globs: scope.globs,
    includeHidden: false,
    includeIgnored: false,
    maxResults: MAX_NAMES,
    ...(signal === undefined ? {} : { signal }),
  });
  languages.learn(listed.paths, scope.globs.length === 0 ? 'all' : 'some');
  const paths: string[] = [];
  for (const path of listed.paths) {
    if (pace.isDue()) await pace.pause();
    if (!(await isWanted(path, scope.language, parts))) continue;
    if (paths.length === scope.maxFiles) return { paths, truncated: true };
    paths.push(path);
  }
  return { paths, truncated: listed.truncated };
}

/** Whether a listing would show the file, and so whether it belongs into the index. */
export async function isListed(path: string, workspace: Workspace): Promise<boolean> {
  const { paths } = await workspace.list({
    globs: [literalGlob(path)],
    includeHidden: false,
    includeIgnored: false,
    maxResults: 1,
  });
  return paths[0] === path;
}

/** A glob that matches this path and nothing else. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}\\!]/g, '\\$&');
}

async function isWanted(path: string, language: string | undefined, parts: FindParts): Promise<boolean> {
  const { workspace, languages } = parts;
  const named = languages.byName(path);
  if (named !== undefined || !mayBeScript(path)) return named !== undefined && (language ?? named) === named;
  const stat = await workspace.stat(path);
  const found = stat?.type === 'file' ? await languages.find(path, stat) : undefined;
  return found !== undefined && (language ?? found) === found;
}
