/**
 * What a path may look like before the kernel sees it.
 *
 * Passing these rules proves nothing about where a path leads: that is decided by descriptor at the moment of use.
 * `..` is kept, because only resolution knows what it means behind a link; a trailing slash is kept too
 * ("must be a directory").
 */
import { ToolError } from '@tool-runtime/protocol';

/** Relative, well-formed, single slashes, no `.` parts; `.` alone is the root itself. */
export type RelativePath = string & { readonly __relativePath: true };

export const SANDBOX_RULE = 'sec.paths.sandbox';

const MAX_PATH_BYTES = 4096;
const MAX_COMPONENT_BYTES = 255;
const SHOWN_CHARACTERS = 200;

/** Most paths are plain and short; they skip the slow checks below. */
const PLAIN_PATH = /^(?=.{1,255}$)(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;
const ABSOLUTE_PATH = /^(?:[/\\]|[A-Za-z]:)/;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Throws E_VALIDATION_FAIL for what is not a path, E_POLICY for an absolute one. */
export function relativePath(input: string): RelativePath {
  if (PLAIN_PATH.test(input)) return input as RelativePath;
  checkForm(input);
  const { components, isDirectory } = splitPath(input);
  const path = joinPath(components, { isDirectory });
  // The normal form is judged too: `./C:/x` must not become a path that is refused when it comes back.
  if (ABSOLUTE_PATH.test(input) || ABSOLUTE_PATH.test(path)) throw absolute(input);
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

function checkForm(input: string): void {
  if (input === '') throw malformed('Path is empty', input);
  if (input.length > MAX_PATH_BYTES || Buffer.byteLength(input) > MAX_PATH_BYTES) {
    throw malformed('Path is over 4096 bytes', input);
  }
  if (input.includes('\0')) throw malformed('Path holds a NUL character', input);
  if (!input.isWellFormed()) throw malformed('Path is not valid Unicode', input);
}

function malformed(problem: string, input: string): ToolError {
  const shown = shownPath(input);
  return new ToolError('E_VALIDATION_FAIL', `${problem}: ${shown}`, { path: shown, details: { rule: SANDBOX_RULE } });
}

/** The caller's path as messages carry it: cut, and without characters that could forge a line of a log. */
export function shownPath(input: string): string {
  const cut = input.length > SHOWN_CHARACTERS ? `${input.slice(0, SHOWN_CHARACTERS)}…` : input;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
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
