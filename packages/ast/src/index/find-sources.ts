/** The source files of a part of the workspace, as listings show it: without what is hidden, ignored or foreign. */
import type { Workspace } from '@tool-runtime/sdk';
import { isReadLast } from '../symbols/is-generated.ts';
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
  /** At most `maxFiles` of the scope. Sorted; what looks generated or copied comes last, and is cut first. */
  readonly paths: readonly string[];
  /** Folders in which a file of the scope may come to be, as far as they are listed; without those above them. */
  readonly folders: readonly string[];
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
  const list = (globs: readonly string[]) =>
    workspace.list({
      ...{ globs, includeHidden: false, includeIgnored: false, includeDirectories: true, maxResults: MAX_NAMES },
      ...(signal === undefined ? {} : { signal }),
    });
  const listed = await list(scope.globs);
  const [files, within] = [listed.paths.filter((path) => !path.endsWith('/')), scope.globs.map(folderGlob)];
  const around = within.every((glob, at) => glob === scope.globs[at]) ? listed : await list(within);
  const folders = around.paths.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  languages.learn(files, scope.globs.length === 0 ? 'all' : 'some');
  const [paths, late]: [string[], string[]] = [[], []];
  for (const path of files) {
    if (pace.isDue()) await pace.pause();
    if (await isWanted(path, scope.language, parts)) (isReadLast(path) ? late : paths).push(path);
  }
  const isCut = paths.length + late.length > scope.maxFiles;
  return { paths: [...paths, ...late].slice(0, scope.maxFiles), folders, truncated: isCut || listed.truncated };
}

/** Everything below the part of a glob that is a plain folder. */
function folderGlob(glob: string): string {
  const wild = glob.search(/[*?[\]{}\\!]/);
  if (wild === -1 || glob.endsWith('/**')) return glob;
  return `${glob.slice(0, glob.lastIndexOf('/', wild) + 1)}**`;
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

/** Whether it is a source file, in this language if one is given. */
export async function isWanted(path: string, language: string | undefined, parts: FindParts): Promise<boolean> {
  const { workspace, languages } = parts;
  const named = languages.byName(path);
  if (named !== undefined || !mayBeScript(path)) return named !== undefined && (language ?? named) === named;
  const stat = await workspace.stat(path);
  const found = stat?.type === 'file' ? await languages.find(path, stat) : undefined;
  return found !== undefined && (language ?? found) === found;
}
