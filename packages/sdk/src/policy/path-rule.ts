/**
 * The path rules that hold for one call. Every rule is asked about the path as written and about the place it leads to:
 * at the gate for each path the arguments name, and again by the file layer for each path as it is opened.
 *
 * Paths are relative to the root of the outermost workspace. What is absolute or no path at all matches no glob.
 */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { FoundPath, PathRule } from '../contracts/path-text.ts';
import { escapeGlob, expandBraces } from '../glob/glob-syntax.ts';
import { compileGlobs, type GlobTest, globCovers, intersectGlobs } from '../glob/match-glob.ts';
import { classifyPath, type DeclaredPath, fromOutermost } from './declared-paths.ts';

export interface NamedPath extends DeclaredPath {
  /** It stands for a set of files: see `set_params`. */
  readonly isSet: boolean;
}

export type Locate = (path: string) => FoundPath;

export interface CallPathRule extends PathRule {
  /** Throws E_POLICY when a path the arguments name, or what it leads to now, is not allowed by a clause of this gate. */
  checkNamed(gate: ClauseGate, locate: Locate): void;
}

export interface PathRuleInput {
  readonly clauses: readonly PathClause[];
  readonly named: readonly NamedPath[];
  /** Folder the session works in, below the outermost root; `.` for all of it. */
  readonly prefix: string;
}

const WILD = /[*?[{\\]/;

/** Undefined when no rule speaks about this call. */
export function callPathRule({ clauses, named, prefix }: PathRuleInput): CallPathRule | undefined {
  if (clauses.length === 0) return undefined;
  const scopes = clauses.map((clause) => {
    const ours = named.filter(({ key }) => clause.keys.includes(key));
    return { clause, ours, areas: ours.flatMap((path) => areasOf(path, prefix)) };
  });
  return {
    check({ path, location, access }) {
      for (const { clause, areas } of scopes) {
        const area = areas.find(({ folder }) => isAtOrBelow(path, folder));
        if (area === undefined && !(clause.everyWrite && access !== 'read')) continue;
        const refused = [path, location].find((one) => !clause.allows(one));
        if (refused !== undefined) throw clause.refuse(area?.key ?? 'path', refused);
      }
    },
    checkNamed(gate, locate) {
      for (const { clause, ours } of scopes) {
        if (clause.gate !== gate) continue;
        for (const path of ours) checkPath(clause, path, { prefix, locate });
      }
    },
  };
}

interface Looking {
  readonly prefix: string;
  readonly locate: Locate;
}

function checkPath(clause: PathClause, { key, value, isSet }: NamedPath, { prefix, locate }: Looking): void {
  const written = fromOutermost(prefix, value);
  const refuse = (path: string) => clause.refuse(key, path === written ? value : path);
  if (!clause.allows(written)) throw refuse(written);
  if (!isSet) {
    const { location } = locate(value);
    if (!clause.allows(location)) throw refuse(location);
    return;
  }
  for (const member of membersOf(value)) {
    const { folder, rest } = splitGlob(member);
    const outer = fromOutermost(prefix, member);
    if (rest === '' ? !clause.allows(outer) : !clause.covers(outer)) throw refuse(written);
    const { location, isFolder } = locate(folder);
    if (rest === '' && !clause.allows(location)) throw refuse(location);
    const inside = rest === '' && isFolder ? '**' : rest;
    if (inside !== '' && !clause.covers(joinGlob(location, inside))) throw refuse(`${location}/${inside}`);
  }
}

/** What the braces stand for; a value that is no glob stands for itself. */
function membersOf(value: string): readonly string[] {
  try {
    return expandBraces(value, (why) => {
      throw new TypeError(why);
    });
  } catch (thrown) {
    if (isToolError(thrown) || !(thrown instanceof TypeError)) throw thrown;
    return [value];
  }
}

/** The folders before the first wildcard, and the rest. */
function splitGlob(glob: string): { readonly folder: string; readonly rest: string } {
  const parts = glob.split('/');
  const first = parts.findIndex((part) => WILD.test(part));
  if (first < 0) return { folder: glob, rest: '' };
  const folder = parts.slice(0, first).join('/');
  return { folder: folder === '' ? '.' : folder, rest: parts.slice(first).join('/') };
}

function joinGlob(location: string, rest: string): string {
  return location === '.' ? rest : `${escapeGlob(location)}/${rest}`;
}

interface Area {
  readonly key: string;
  readonly folder: string;
}

/** Tools may pass on a path as it was written, or with its dots resolved. */
function areasOf({ key, value, isSet }: NamedPath, prefix: string): readonly Area[] {
  const members = isSet ? membersOf(value).map((member) => splitGlob(member).folder) : [value];
  return members.flatMap((member) => {
    const written = fromOutermost(prefix, member);
    const path = classifyPath(written);
    const plain = written.split('/').filter((part) => part !== '' && part !== '.');
    const folders = new Set([plain.join('/') || '.', ...(path.type === 'workspace_relative' ? [path.normalized] : [])]);
    return [...folders].map((folder) => ({ key, folder }));
  });
}

function isAtOrBelow(path: string, folder: string): boolean {
  return folder === '.' || path === folder || path.startsWith(`${folder}/`);
}

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

/**
 * One rule about paths, compiled: a list of globs, which arguments it applies to, and whether it also applies to files
 * that no argument names. Argument constraints and the write allow-list both become clauses, so both are checked alike.
 */
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
