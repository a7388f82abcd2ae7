/**
 * One rule about paths, compiled: a list of globs, which arguments it applies to, and whether it also applies to files
 * that no argument names. Argument constraints and the write allow-list both become clauses, so both are checked alike.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { globCovers, intersectGlobs } from '../glob/glob-covers.ts';
import { compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { classifyPath } from './declared-paths.ts';

export type ClauseGate = 'arguments' | 'approval';

export interface PathClause {
  /** Which gate refuses, and in which words. */
  readonly gate: ClauseGate;
  /** Arguments whose paths it speaks about. */
  readonly keys: readonly string[];
  /** It also speaks about every file the call writes, named by an argument or not. */
  readonly everyWrite: boolean;
  allows: GlobTest;
  /** Whether everything `glob` could match is allowed. */
  covers(glob: string): boolean;
  refuse(key: string, path: string): ToolError;
}

export function compilePathClause(
  patterns: readonly string[],
  meaning: Pick<PathClause, 'gate' | 'keys' | 'everyWrite' | 'refuse'>,
): PathClause {
  return {
    ...meaning,
    allows: compilePathGlobs(patterns),
    covers: (glob) => patterns.some((pattern) => globCovers(pattern, glob)),
  };
}

/**
 * Globs over declared paths. The value is normalised first, so that `src/../secret` is checked as the path it leads to.
 * An absolute path is only ever matched by a pattern that is itself absolute: `**` means the workspace.
 */
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
