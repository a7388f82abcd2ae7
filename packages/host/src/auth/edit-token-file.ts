/**
 * Adding and revoking tokens in the operator's file. Everything else in it stays as it is.
 *
 * Edits wait for each other under a lock beside the file, and readers see the old text or the new one: a host that
 * follows the file never meets half an edit.
 */
import { type Scope, ToolError } from '@tool-runtime/protocol';
import { holdLock } from '../ops/hold-lock.ts';
import { replacePrivateFile } from '../ops/private-file.ts';
import { createToken, digestToken } from './token-digest.ts';
import { ensureTokenFile, findTokenFile } from './token-file.ts';
import { formatTokenLine, nameOfDigest, parseTokenLines } from './token-lines.ts';

export interface TokenGrant {
  /** The beginning of the digest when there is none. */
  readonly name?: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

const LOCK_WAIT_MS = 10_000;

/** The token, which is told here once: the file only gets its digest. Makes the file when it is missing. */
export function addToken(path: string, { name, scopes, expiresAt }: TokenGrant): { token: string; name: string } {
  // First, for it makes the folder; of two that do so, both get the same file.
  ensureTokenFile(path);
  return locked(path, () => {
    const { text } = ensureTokenFile(path);
    const token = createToken();
    const sha256 = digestToken(token);
    const entry = {
      name: name ?? nameOfDigest(sha256),
      sha256,
      scopes,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    const changed = `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${formatTokenLine(entry)}\n`;
    // Whatever is wrong with the new line, a name that is taken for one, is found before it is written.
    parseTokenLines(changed, path);
    replacePrivateFile(path, changed);
    return { token, name: entry.name };
  });
}

/** False when no token has the name. */
export function removeToken(path: string, name: string): boolean {
  if (findTokenFile(path) === undefined) return false;
  return locked(path, () => {
    const file = findTokenFile(path);
    const entry = file?.entries.find((one) => one.name === name);
    if (file === undefined || entry === undefined) return false;
    const lines = file.text.split('\n').filter((_, index) => index !== entry.line - 1);
    replacePrivateFile(path, lines.join('\n'));
    return true;
  });
}

function locked<T>(path: string, edit: () => T): T {
  const lock = holdLock(`${path}.lock`, { waitMs: LOCK_WAIT_MS });
  if (lock === undefined) {
    throw new ToolError('E_TIMEOUT', `Token file stayed locked by another process: ${path}`, {
      path,
      details: { gate: 'auth', reason: 'locked', next: 'try again' },
    });
  }
  try {
    return edit();
  } finally {
    lock.release();
  }
}
