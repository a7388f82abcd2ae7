/**
 * Effects that show when they happen twice: each leaves a token that is used for nothing else. Whatever was acknowledged
 * happened exactly once, whatever was refused never, everything else at most once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Problems } from '../../../packages/host/test/load/problems.ts';
import type { Knowledge } from './call-outcome.ts';

/** Where tokens are left, and how often each is found there. */
export interface TokenPlace {
  readonly name: string;
  counts(): ReadonlyMap<string, number>;
}

export class TokenLedger {
  readonly #places = new Map<TokenPlace, Map<string, Knowledge>>();

  /** A call begins that leaves this token there. The returned function says what became of it. */
  begin(place: TokenPlace, token: string): (knowledge: Knowledge) => void {
    const tokens = this.#places.get(place) ?? new Map<string, Knowledge>();
    this.#places.set(place, tokens.set(token, 'unknown'));
    return (knowledge) => {
      // A repeated call may learn what the first one did not; it never makes known what is known unknown.
      if (knowledge !== 'unknown' && tokens.get(token) !== 'done') tokens.set(token, knowledge);
    };
  }

  check(problems: Problems): void {
    for (const [place, tokens] of this.#places) {
      const counts = place.counts();
      for (const [token, count] of counts) {
        if (!tokens.has(token)) problems.add(`effect nobody asked for in ${place.name}: ${token}`);
        else if (count > 1) problems.add(`effect ${count} times in ${place.name}: ${token}`);
      }
      for (const [token, knowledge] of tokens) {
        const count = counts.get(token) ?? 0;
        if (knowledge === 'done' && count === 0)
          problems.add(`acknowledged effect is missing in ${place.name}: ${token}`);
        if (knowledge === 'not done' && count > 0) problems.add(`refused effect happened in ${place.name}: ${token}`);
      }
    }
  }
}

/** Files whose name is the token and a random ending. */
export function tokenFolder(name: string, folder: string): TokenPlace {
  return { name, counts: () => count(readdirSync(folder).map((file) => file.slice(0, file.lastIndexOf('.')))) };
}

/** A file with one token a line. */
export function tokenLines(name: string, file: string): TokenPlace {
  return { name, counts: () => count(existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []) };
}

/** Requests a server has got, of those whose token begins like this. */
export function tokenHits(name: string, hits: ReadonlyMap<string, number>, prefix: string): TokenPlace {
  return { name, counts: () => new Map([...hits].filter(([token]) => token.startsWith(prefix))) };
}

function count(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
