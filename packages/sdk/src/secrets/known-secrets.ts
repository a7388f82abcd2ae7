/** Values the host itself holds as secrets, found wherever they stand word for word. */
import type { SecretMatch } from './secret-finding.ts';

/** Anything shorter stands in every other text by accident. */
const MIN_LENGTH = 6;

export type FindKnown = (text: string) => readonly SecretMatch[];

export function findKnownSecrets(secrets: readonly string[]): FindKnown {
  const long = secrets.filter((secret) => secret.length >= MIN_LENGTH);
  const forms = new Set(long.flatMap((secret) => [secret, asBytes(secret)]));
  if (forms.size === 0) return () => [];
  // Longest first, so that a secret inside another does not stand for it.
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  const source = longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return (text) =>
    Array.from(text.matchAll(new RegExp(source, 'g')), ({ index, 0: value }) => ({
      kind: 'known-secret',
      start: index,
      end: index + value.length,
      value,
    }));
}

/** How the secret looks where a file is read byte by byte; the same for ASCII. */
function asBytes(secret: string): string {
  return Buffer.from(secret, 'utf8').toString('latin1');
}
