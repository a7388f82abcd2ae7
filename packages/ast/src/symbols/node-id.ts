/** Names for declarations: an id that survives edits elsewhere in the file, and a rev that changes with its own text. */
import { hash } from 'node:crypto';
import type { NodeFact } from '../contracts/facts.ts';

export type IdParts = Pick<NodeFact, 'type' | 'container' | 'name' | 'ordinal'>;

const LENGTH = 12;

export function nodeId(path: string, { type, container, name, ordinal }: IdParts): string {
  return `n${base62(`${path}\0${type}\0${container}\0${name}\0${ordinal}`)}`;
}

/** Line ends must be normalised already. */
export function nodeRev(bytes: Uint8Array | string): string {
  return `r${base62(bytes)}`;
}

/** The first letters and digits of the digest: leaving out the two signs of base64url gives an even base62. */
function base62(data: Uint8Array | string): string {
  const digest = hash('sha256', data, 'base64url');
  return (/^[^-_]{12}/.test(digest) ? digest : digest.replace(/[-_]/g, '')).slice(0, LENGTH);
}
