/** What callers name (files, folders, globs) as globs of the workspace. */

/** A name without wildcards may be a file or a folder. */
export function pathGlobs(paths: readonly string[]): readonly string[] {
  const all = paths.map((path) => path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''));
  if (all.some((path) => path === '' || path === '.' || path === '**')) return [];
  return all.flatMap((path) => (/[*?[{\\]/.test(path) ? [path] : [path, `${path}/**`]));
}
