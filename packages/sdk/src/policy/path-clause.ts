/**
 * One rule about paths, compiled: a list of globs, which arguments it speaks about, and whether it also speaks about files
 * that no argument names. Argument constraints and the write allow-list both become clauses, so both are judged alike.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { globCovers } from '../glob/glob-covers.ts';
import type { GlobTest } from '../glob/match-glob.ts';
import { compilePathGlobs } from './match-path.ts';

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
