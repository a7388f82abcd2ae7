/**
 * Values that are no path and no URL at all. That is a mistake in the arguments, whatever policy would say about the
 * place: a well-formed path or URL that is not allowed is refused by the gates behind this.
 */
import { ToolError } from '@tool-runtime/protocol';
import { type DeclaredPath, MAX_PATH_BYTES } from './declared-paths.ts';

export interface FormSubject {
  readonly tool: string;
  readonly paths: readonly DeclaredPath[];
  readonly urls: readonly DeclaredPath[];
}

/** Throws E_VALIDATION_FAIL for the first one. */
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
