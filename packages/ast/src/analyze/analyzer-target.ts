/** Judges what an analyzer is pointed at: names inside the workspace that cannot be taken for options. */
import { posix } from 'node:path';
import { leavesWorkspace, tooManyPaths } from './analyzer-failures.ts';
import type { AnalyzerTarget } from './providers/provider.ts';

const MAX_PATHS = 1_000;

/** Throws E_POLICY for a path that leaves the workspace, E_VALIDATION_FAIL for too many. */
export function analyzerTarget(paths: readonly string[], config: string | undefined): AnalyzerTarget {
  if (paths.length > MAX_PATHS) throw tooManyPaths(MAX_PATHS);
  return {
    paths: paths.map((path) => safePath('paths', path)),
    config: config === undefined ? undefined : safePath('config', config),
  };
}

function safePath(argument: string, path: string): string {
  const normal = posix.normalize(path);
  const isOutside = path === '' || path.includes('\0') || normal.startsWith('/') || /^\.\.(?:\/|$)/.test(normal);
  if (isOutside) throw leavesWorkspace(argument, path);
  // Led by a dot no name is an option, a negated pattern or, to Semgrep, an entry of its registry.
  return normal === '.' ? normal : `./${normal}`;
}
