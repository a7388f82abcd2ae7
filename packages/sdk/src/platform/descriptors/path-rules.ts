/**
 * What a path may look like before the kernel sees it.
 *
 * Passing these rules proves nothing about where a path leads: that is decided by descriptor at the moment of use.
 * `..` is kept, because only resolution knows what it means after a link; a trailing slash is kept too
 * ("must be a directory").
 */
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { isAbsolutePath, MAX_PATH_BYTES, type PathFault, pathFault } from '../../contracts/path-text.ts';

/** Relative, well-formed, single slashes, no `.` parts; `.` alone is the root itself. */
export type RelativePath = string & { readonly __relativePath: true };

export const SANDBOX_RULE = 'sec.paths.sandbox';

const MAX_COMPONENT_BYTES = 255;
const SHOWN_CHARACTERS = 200;

/** Most paths are plain and short; they skip the slow checks below. */
const PLAIN_PATH = /^(?=.{1,255}$)(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

/** Throws E_VALIDATION_FAIL for what is not a path, E_POLICY for an absolute one. */
export function relativePath(input: string): RelativePath {
  if (PLAIN_PATH.test(input)) return input as RelativePath;
  const fault = pathFault(input);
  if (fault !== undefined) throw malformed(FAULTS[fault], input);
  const { components, isDirectory } = splitPath(input);
  const path = joinPath(components, { isDirectory });
  // The normal form is checked too: `./C:/x` must not become a path that is refused when it comes back.
  if (isAbsolutePath(input) || isAbsolutePath(path)) throw absolute(input);
  for (const component of components) {
    if (component.length * 3 > MAX_COMPONENT_BYTES && Buffer.byteLength(component) > MAX_COMPONENT_BYTES) {
      throw malformed('Path has a name over 255 bytes', input);
    }
  }
  return path;
}

function absolute(input: string): ToolError {
  const shown = shownPath(input);
  return new ToolError('E_POLICY', `Path is absolute: ${shown}`, {
    path: shown,
    details: { rule: SANDBOX_RULE, next: 'Give the path relative to the workspace root' },
  });
}

const FAULTS: Readonly<Record<PathFault, string>> = {
  empty: 'Path is empty',
  too_long: `Path is over ${MAX_PATH_BYTES} bytes`,
  nul: 'Path holds a NUL character',
  broken_unicode: 'Path is not valid Unicode',
};

function malformed(problem: string, input: string): ToolError {
  const shown = shownPath(input);
  return new ToolError('E_VALIDATION_FAIL', `${problem}: ${shown}`, { path: shown, details: { rule: SANDBOX_RULE } });
}

/** The caller's path as messages carry it: cut, and without characters that could forge a line of a log. */
export function shownPath(input: string): string {
  return safeText(input, SHOWN_CHARACTERS);
}

export interface SplitPath {
  readonly components: readonly string[];
  /** Written with a trailing slash (or `/.`): only a directory will do. */
  readonly isDirectory: boolean;
}

export function splitPath(path: string): SplitPath {
  const parts = path.split('/');
  const components = parts.filter((part) => part !== '' && part !== '.');
  const last = parts.at(-1);
  return { components, isDirectory: components.length > 0 && (last === '' || last === '.') };
}

export function joinPath(components: readonly string[], { isDirectory = false } = {}): RelativePath {
  if (components.length === 0) return '.' as RelativePath;
  return `${components.join('/')}${isDirectory ? '/' : ''}` as RelativePath;
}
