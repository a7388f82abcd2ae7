/**
 * The paths and URLs a call declares, and what kind of path each one is.
 *
 * Checked as text only: the workspace looks at links and existence when it opens the file.
 */
import { type JsonValue, ToolError, utf8Length } from '@tool-runtime/protocol';

const MAX_PATH_BYTES = 4096;

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

/** Windows forms count as absolute on every platform, so that a policy means the same everywhere. */
export function classifyPath(value: string): PathClass {
  if (value === '') return { type: 'invalid', why: 'empty' };
  if (value.includes('\0')) return { type: 'invalid', why: 'NUL character' };
  if (!value.isWellFormed()) return { type: 'invalid', why: 'lone surrogate' };
  if (value.length > MAX_PATH_BYTES || utf8Length(value) > MAX_PATH_BYTES) {
    return { type: 'invalid', why: `longer than ${MAX_PATH_BYTES} bytes` };
  }
  if (/^(?:[/\\]|[A-Za-z]:)/.test(value)) return { type: 'host_absolute' };
  const normalized = resolveDots(value);
  // A backslash is an ordinary character here and a separator elsewhere; neither reading may leave the root.
  if (normalized === undefined || (value.includes('\\') && resolveDots(value.replaceAll('\\', '/')) === undefined)) {
    return { type: 'invalid', why: 'leaves the workspace root' };
  }
  return { type: 'workspace_relative', normalized };
}

function resolveDots(value: string): string | undefined {
  const kept: string[] = [];
  for (const part of value.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.length === 0 ? '.' : kept.join('/');
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
    const why = pathFault(value);
    if (why !== undefined) throw malformed(tool, key, { what: 'path', why, next: 'give a relative path as text' });
  }
  for (const { key, value } of urls) {
    const why = urlFault(value);
    if (why !== undefined) throw malformed(tool, key, { what: 'URL', why, next: 'give an absolute URL with a host' });
  }
}

function pathFault(value: string): string | undefined {
  if (value === '') return 'is empty';
  if (value.includes('\0')) return 'holds a NUL character';
  return Buffer.byteLength(value) > MAX_PATH_BYTES ? `is longer than ${MAX_PATH_BYTES} bytes` : undefined;
}

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
