/**
 * The path values a call declares, and what kind of path each one is.
 *
 * Only the text is checked here; links and existence are checked by the workspace at the moment of opening.
 */
import type { JsonValue } from '@tool-runtime/protocol';
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
