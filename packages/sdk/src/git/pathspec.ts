/**
 * Paths and globs of callers as git pathspecs with their meaning spelled out, so that nothing in them is magic.
 *
 * Braces are expanded here: git does not know them.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { resolveDots, TEMPORARY_PREFIX } from '../contracts/path-text.ts';
import { expandBraces } from '../glob/glob-syntax.ts';
import { gitFailure } from './git-failure.ts';

/** Leaves out files and trees that are being written, or that a killed write left behind. */
export const UNFINISHED: readonly string[] = ['', '/**'].map(
  (below) => `:(top,exclude,glob)**/${TEMPORARY_PREFIX}*${below}`,
);

const WILD = /[*?[{]/;
const MAX_PATHSPECS = 1000;
/** They are words of a command line, which the system limits. */
const MAX_LENGTH = 256 * 1024;

export function isGlob(path: string): boolean {
  return WILD.test(path);
}

export function literalPathspec(path: string): string {
  const clean = cleanPath(path);
  return clean === '' ? ':(top)' : `:(top,literal)${clean}`;
}

/** `exists` says whether a file of exactly this name is there: then its special characters mean themselves. */
export function globPathspecs(paths: readonly string[], exists: (path: string) => boolean): readonly string[] {
  const specs = paths.flatMap((path) => {
    if (!isGlob(path) || exists(path)) return [literalPathspec(path)];
    return expandBraces(path, badGlob).map((glob) => `:(top,glob)${cleanPath(glob)}`);
  });
  const length = specs.reduce((sum, spec) => sum + spec.length, 0);
  if (specs.length <= MAX_PATHSPECS && length <= MAX_LENGTH) return specs;
  throw gitFailure(`Too many paths: ${specs.length}`, {
    path: 'paths',
    reason: 'too_many_paths',
    next: `name at most ${MAX_PATHSPECS}, or a folder that holds them`,
  });
}

function badGlob(problem: string): never {
  throw gitFailure(`Glob is not valid: ${problem}`, {
    path: 'paths',
    reason: 'bad_glob',
    next: 'write fewer or simpler braces',
  });
}

/** The same path without empty, `.` and `..` parts; empty for the root. Throws E_GIT where it leaves the root. */
export function cleanPath(path: string): string {
  if (path.includes('\0')) {
    throw gitFailure('Path holds a NUL character', { path: 'paths', reason: 'bad_path', next: 'give a plain path' });
  }
  const names = resolveDots(path);
  if (names === undefined) throw leavesRoot(path);
  return names.join('/');
}

function leavesRoot(path: string): ToolError {
  return gitFailure(`Path leaves the workspace root: ${safeText(path, 120)}`, {
    path: 'paths',
    reason: 'bad_path',
    next: 'give a path relative to the workspace root',
  });
}
