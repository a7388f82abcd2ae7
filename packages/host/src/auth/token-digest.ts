/** Bearer tokens: how ours look, and the digest a token is known by. The token itself is kept nowhere. */
import { hash, randomBytes } from 'node:crypto';

/** Longer ones are refused unread. */
export const MAX_TOKEN_BYTES = 512;
/** Of a token the operator thought up; a digest of fewer characters could be guessed. */
export const MIN_TOKEN_LENGTH = 16;
/** The characters RFC 6750 allows; none of them needs escaping in a header. */
export const TOKEN_FORM = /^[A-Za-z0-9._~+/-]+=*$/;
/** Begins every token made here, so that a redactor knows one by sight. */
const TOKEN_PREFIX = 'trt_';

export function createToken(): string {
  return TOKEN_PREFIX + randomBytes(32).toString('base64url');
}

export function digestToken(token: string): string {
  return hash('sha256', token, 'hex');
}
