/** The workspace registries an operator has reviewed, by content: any edit makes a registry untrusted again. */
import type { StateFolder } from '../platform/state-folder.ts';

const FILE = 'trusted-registries.json';
const DIGEST = /^[0-9a-f]{64}$/;

export interface TrustList {
  has(sha256: string): boolean;
  add(sha256: string): void;
  remove(sha256: string): boolean;
}

export function openTrustList(state: StateFolder): TrustList {
  const read = (): Set<string> => new Set(parseList(state.readText(FILE)));
  const write = (digests: Set<string>): void => state.writeText(FILE, `${JSON.stringify([...digests].sort())}\n`);
  return {
    has: (sha256) => read().has(sha256),
    add(sha256) {
      write(read().add(sha256));
    },
    remove(sha256) {
      const digests = read();
      const removed = digests.delete(sha256);
      if (removed) write(digests);
      return removed;
    },
  };
}

/** A damaged list trusts nothing. */
function parseList(text: string | undefined): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string' && DIGEST.test(entry)) : [];
  } catch {
    return [];
  }
}
