/**
 * What a path looks like as text, before anything is opened. Policy, git and the file system read it the same way here.
 *
 * This proves nothing about where a path leads: that is decided by descriptor at the moment of use.
 */
import { utf8Length } from '@tool-runtime/protocol';

/**
 * The path rules of one call, as the file layer sees them: it asks at the moment a path is used, with the place the held
 * directory really has. Paths and places are relative to the root of the outermost workspace.
 *
 * A deletion is a write too.
 */
export type PathAccess = 'read' | 'write' | 'delete';

/** What a link in the last place stands for. */
export type LinkUse = 'through' | 'themselves';

interface PathUse {
  /** As the tool spelled it. */
  readonly path: string;
  /** Where it really is, links resolved; `.` is the root. */
  readonly location: string;
  readonly access: PathAccess;
}

export interface PathRule {
  /** Throws E_POLICY when the call may not use this path. */
  check(use: PathUse): void;
}

/** Where a path leads, looked up by descriptor. */
export interface FoundPath extends Pick<PathUse, 'path' | 'location'> {
  readonly isFolder: boolean;
}

export const MAX_PATH_BYTES = 4096;

export type PathFault = 'empty' | 'too_long' | 'nul' | 'broken_unicode';

/** Why this text can be no path at all. */
export function pathFault(text: string): PathFault | undefined {
  if (text === '') return 'empty';
  if (text.length > MAX_PATH_BYTES || utf8Length(text) > MAX_PATH_BYTES) return 'too_long';
  if (text.includes('\0')) return 'nul';
  return text.isWellFormed() ? undefined : 'broken_unicode';
}

const ABSOLUTE_PATH = /^(?:[/\\]|[A-Za-z]:)/;

/** Windows forms count on every system, so that a policy means the same everywhere. */
export function isAbsolutePath(text: string): boolean {
  return ABSOLUTE_PATH.test(text);
}

/** The names without empty, `.` and `..` parts; undefined where the path leaves its root. */
export function resolveDots(path: string): readonly string[] | undefined {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept;
}

/**
 * Names of files and trees that are being written; lists, searches and git tools leave them out. A name contains its
 * owner (process number, start time, process namespace and boot), so that what a dead owner left can be removed at once.
 * A name without an owner comes from an older version.
 */
export const TEMPORARY_PREFIX = '.tool-runtime-tmp-';
const TEMPORARY_NAME = /^\.tool-runtime-tmp-(?:([0-9]+-[0-9]+-[0-9]+-[0-9a-f]{8})-)?[0-9a-f]{12}$/;

export function isTemporaryName(name: string | Buffer): boolean {
  return typeof name === 'string' && TEMPORARY_NAME.test(name);
}

/** Undefined when the name has none. */
export function temporaryOwner(name: string): string | undefined {
  return TEMPORARY_NAME.exec(name)?.[1];
}

/** Whether the path is one of these, or inside one. */
export function isTemporaryPath(path: string): boolean {
  return path.includes(TEMPORARY_PREFIX) && path.split('/').some(isTemporaryName);
}
