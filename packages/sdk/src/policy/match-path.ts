/**
 * Globs over declared paths. The value is normalised first, so that a spelling such as `src/../secret` is judged by
 * where it leads. An absolute path is only ever matched by a pattern that is itself absolute: `**` means the workspace.
 */

import { intersectGlobs } from '../glob/glob-covers.ts';
import { compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { classifyPath } from './declared-paths.ts';

export function compilePathGlobs(patterns: readonly string[]): GlobTest {
  const relative = compileGlobs(patterns.filter(isRelative));
  const absolute = compileGlobs(patterns.filter(isAbsolute));
  return (value) => {
    const path = classifyPath(value);
    if (path.type === 'workspace_relative') return relative(path.normalized);
    return path.type === 'host_absolute' && absolute(value);
  };
}

export function intersectPathGlobs(first: readonly string[], second: readonly string[]): readonly string[] {
  return [
    ...intersectGlobs(first.filter(isRelative), second.filter(isRelative)),
    ...intersectGlobs(first.filter(isAbsolute), second.filter(isAbsolute)),
  ];
}

function isAbsolute(pattern: string): boolean {
  return /^(?:\/|[A-Za-z]:)/.test(pattern);
}

function isRelative(pattern: string): boolean {
  return !isAbsolute(pattern);
}
