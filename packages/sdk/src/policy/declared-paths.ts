/**
 * The paths and URLs a call declares, and what kind of path each one is.
 *
 * Checked as text only: the workspace looks at links and existence when it opens the file.
 */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import { isAbsolutePath, MAX_PATH_BYTES, type PathFault, pathFault, resolveDots } from '../contracts/path-text.ts';

export interface DeclaredPath {
  readonly key: string;
  readonly value: string;
}

export type PathClass =
  | { readonly type: 'workspace_relative'; readonly normalized: string }
  | { readonly type: 'host_absolute' }
  | { readonly type: 'invalid'; readonly why: string };

/** Every string under the declared keys, arrays flattened, in the order of the keys. */
export function declaredPaths(
  args: Readonly<Record<string, JsonValue>>,
  pathParams: readonly string[],
): readonly DeclaredPath[] {
  const found: DeclaredPath[] = [];
  for (const key of pathParams) {
    if (!Object.hasOwn(args, key)) continue;
    const held = args[key];
    if (typeof held === 'string') found.push({ key, value: held });
    else if (Array.isArray(held)) {
      for (const value of held) if (typeof value === 'string') found.push({ key, value });
    }
  }
  return found;
}

/** The first listed key that holds a string. */
export function firstPathParam(
  args: Readonly<Record<string, JsonValue>>,
  pathParams: readonly string[],
): DeclaredPath | undefined {
  for (const key of pathParams) {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (typeof value === 'string') return { key, value };
  }
  return undefined;
}

const FAULTS: Readonly<Record<PathFault, string>> = {
  empty: 'empty',
  too_long: `longer than ${MAX_PATH_BYTES} bytes`,
  nul: 'NUL character',
  broken_unicode: 'lone surrogate',
};

export function classifyPath(value: string): PathClass {
  const fault = pathFault(value);
  if (fault !== undefined) return { type: 'invalid', why: FAULTS[fault] };
  if (isAbsolutePath(value)) return { type: 'host_absolute' };
  const normalized = resolveDots(value);
  // A backslash is an ordinary character here and a separator elsewhere; neither reading may leave the root.
  if (normalized === undefined || (value.includes('\\') && resolveDots(value.replaceAll('\\', '/')) === undefined)) {
    return { type: 'invalid', why: 'leaves the workspace root' };
  }
  return { type: 'workspace_relative', normalized: normalized.length === 0 ? '.' : normalized.join('/') };
}

interface FormSubject {
  readonly tool: string;
  readonly paths: readonly DeclaredPath[];
  readonly urls: readonly DeclaredPath[];
}

/**
 * Throws E_VALIDATION_FAIL for the first value that is not a path or URL at all. That is a mistake in the arguments,
 * whatever policy says about the place; a well-formed path or URL that is not allowed is refused later, by the gates.
 */
export function checkForm({ tool, paths, urls }: FormSubject): void {
  for (const { key, value } of paths) {
    const fault = pathFault(value);
    const why = fault && MALFORMED[fault];
    if (why !== undefined) throw malformed(tool, key, { what: 'path', why, next: 'give a relative path as text' });
  }
  for (const { key, value } of urls) {
    const why = urlFault(value);
    if (why !== undefined) throw malformed(tool, key, { what: 'URL', why, next: 'give an absolute URL with a host' });
  }
}

/** Broken Unicode is left to the gates, as an invalid path. */
const MALFORMED: Readonly<Partial<Record<PathFault, string>>> = {
  empty: 'is empty',
  too_long: `is longer than ${MAX_PATH_BYTES} bytes`,
  nul: 'holds a NUL character',
};

function urlFault(value: string): string | undefined {
  if (value.includes('\0')) return 'holds a NUL character';
  return URL.canParse(value) ? undefined : 'cannot be parsed';
}

interface Fault {
  readonly what: 'path' | 'URL';
  readonly why: string;
  readonly next: string;
}

function malformed(tool: string, key: string, { what, why, next }: Fault): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Bad arguments for ${tool}: ${key}: ${what} ${why}`, {
    path: key,
    details: { gate: 'arguments', reason: `malformed_${what.toLowerCase()}`, next },
  });
}

/** `value` as seen from the outermost root. What is not a path inside the workspace stays as it is, and matches nothing. */
export function fromOutermost(prefix: string, value: string): string {
  if (prefix === '.' || classifyPath(value).type !== 'workspace_relative') return value;
  return value.startsWith('@') ? value : `${prefix}/${value}`;
}
