/** The operator's token file: private to this user, made with a fresh main token when there is none. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { createPrivateFile, readPrivateFile } from '../ops/private-file.ts';
import { createToken } from './token-digest.ts';
import { parseTokenLines, type TokenLines } from './token-lines.ts';

export interface TokenFile extends TokenLines {
  readonly path: string;
  readonly text: string;
  /** Differs whenever the file was changed or replaced. */
  readonly stamp: string;
}

const MAX_FILE_BYTES = 256 * 1024;

/** E_FILE_IO when it is missing, E_POLICY when it is not private, E_VALIDATION_FAIL when a line is wrong. */
export function readTokenFile(path: string): TokenFile {
  const found = findTokenFile(path);
  if (found !== undefined) return found;
  throw new ToolError('E_FILE_IO', `Token file not found: ${path}`, {
    path,
    details: { gate: 'auth', reason: 'ENOENT', next: 'restore it, or make one with: tool-runtime token add' },
  });
}

/** Undefined when there is none. */
export function findTokenFile(path: string): TokenFile | undefined {
  const file = readPrivateFile(path, { maxBytes: MAX_FILE_BYTES });
  return file === undefined ? undefined : { path, ...file, ...parseTokenLines(file.text, path) };
}

/**
 * The new file holds the token and nothing else, so that `cat` is enough to read it. Of two processes that start at
 * once, one makes the file and both use its token.
 */
export function ensureTokenFile(path: string): TokenFile & { readonly isNew: boolean } {
  const found = findTokenFile(path);
  if (found !== undefined) return { ...found, isNew: false };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const isNew = createPrivateFile(path, `${createToken()}\n`);
  return { ...readTokenFile(path), isNew };
}
