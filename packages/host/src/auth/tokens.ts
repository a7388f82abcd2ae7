/**
 * The owner of a bearer token: tokens of the operator's file and tokens of sessions, by digest only.
 *
 * The index is keyed by a digest salted per process: how long a lookup takes says nothing about any token. The file is
 * looked at no more than once a second; one that became unreadable or wrong leaves the last good content in force and
 * is reported once, because locking all users out for a typing mistake is not safer than going on.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Scope, type ToolError, toToolError } from '@tool-runtime/protocol';
import { stampOf } from '../ops/private-file.ts';
import type { Principal } from './principal.ts';
import { createToken, digestToken, MAX_TOKEN_BYTES } from './token-digest.ts';
import { readTokenFile } from './token-file.ts';
import { parseTokenLines, type TokenEntry } from './token-lines.ts';

export interface TokenBook {
  /** Where the operator's tokens are kept, when they come from a file: tools may not reach it. */
  readonly file?: string;
  /** Undefined for a token that is unknown, expired, revoked or too long. */
  find(token: string): Principal | undefined;
  /** Whether the token behind a principal that `find` gave still means the same; for connections that stay open. */
  isCurrent(principal: Principal): boolean;
  /** A fresh token that reaches one session. */
  issue(grant: SessionGrant): string;
  revokeSession(sessionId: string): void;
}

export interface SessionGrant {
  readonly sessionId: string;
  /** Id of the principal the session belongs to. */
  readonly ownerId: string;
  readonly name: string;
  readonly scopes: Iterable<Scope>;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** The tokens of a file, which is followed, or of fixed lines. */
export type TokenBookOptions = TokenBookPorts & ({ readonly path: string } | { readonly lines: readonly string[] });

interface TokenBookPorts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Told once for every content of the file that could not be used. */
  readonly onBadFile?: (error: ToolError) => void;
}

const LOOK_EVERY_MS = 1000;

interface Holder {
  readonly principal: Principal;
  readonly expiresAt: number;
}

/** Throws what `readTokenFile` throws when the file is bad from the start. */
export function createTokenBook(options: TokenBookOptions): TokenBook {
  const { now, onBadFile = () => {} } = options;
  const salt = randomBytes(32).toString('hex');
  const keyOf = (sha256: string): string => hash('sha256', salt + sha256, 'hex');
  const operatorTokens =
    'path' in options
      ? followFile(options.path, { now, onBadFile, keyOf })
      : fixedTokens(holdersOf(parseTokenLines(options.lines.join('\n'), 'tokens').entries, keyOf));
  const sessions = createSessionTokens();
  const keys = new WeakMap<Principal, string>();

  function holderOf(key: string): Holder | undefined {
    const holder = sessions.get(key) ?? operatorTokens().get(key);
    return holder !== undefined && holder.expiresAt > now() ? holder : undefined;
  }

  return {
    ...('path' in options ? { file: options.path } : {}),
    find(token) {
      if (token === '' || token.length > MAX_TOKEN_BYTES || Buffer.byteLength(token) > MAX_TOKEN_BYTES)
        return undefined;
      const key = keyOf(digestToken(token));
      const principal = holderOf(key)?.principal;
      if (principal !== undefined) keys.set(principal, key);
      return principal;
    },
    isCurrent(principal) {
      const key = keys.get(principal);
      const holder = key === undefined ? undefined : holderOf(key);
      return holder !== undefined && isSame(holder.principal, principal);
    },
    issue({ sessionId, ownerId, name, scopes, expiresAt = Number.POSITIVE_INFINITY }) {
      const token = createToken();
      const principal = { id: ownerId, name, scopes: new Set(scopes), sessionId };
      sessions.add(sessionId, keyOf(digestToken(token)), { principal, expiresAt });
      return token;
    },
    revokeSession: (sessionId) => sessions.revoke(sessionId),
  };
}

type Holders = ReadonlyMap<string, Holder>;

function fixedTokens(holders: Holders): () => Holders {
  return () => holders;
}

interface Following {
  readonly now: () => number;
  readonly onBadFile: (error: ToolError) => void;
  readonly keyOf: (sha256: string) => string;
}

/** The content in force, looked at again when the last look is a second old. */
function followFile(path: string, { now, onBadFile, keyOf }: Following): () => Holders {
  const first = readTokenFile(path);
  let holders = holdersOf(first.entries, keyOf);
  let seen = first.stamp;
  let lookedAt = now();

  function look(): void {
    const stamp = stampOf(path);
    if (stamp === seen) return;
    // Remembered before it is read: what cannot be used is reported once, not every second.
    seen = stamp;
    const file = readTokenFile(path);
    seen = file.stamp;
    holders = holdersOf(file.entries, keyOf);
  }

  return () => {
    const time = now();
    // A clock that was set back must not stop us from looking.
    if (Math.abs(time - lookedAt) < LOOK_EVERY_MS) return holders;
    lookedAt = time;
    try {
      look();
    } catch (thrown) {
      onBadFile(toToolError(thrown));
    }
    return holders;
  };
}

function holdersOf(entries: readonly TokenEntry[], keyOf: (sha256: string) => string): Holders {
  return new Map(
    entries.map(({ sha256, name, scopes, expiresAt = Number.POSITIVE_INFINITY }): [string, Holder] => [
      keyOf(sha256),
      { principal: { id: `token:${name}`, name, scopes }, expiresAt },
    ]),
  );
}

interface SessionTokens {
  get(key: string): Holder | undefined;
  add(sessionId: string, key: string, holder: Holder): void;
  revoke(sessionId: string): void;
}

function createSessionTokens(): SessionTokens {
  const holders = new Map<string, Holder>();
  const bySession = new Map<string, string[]>();
  return {
    get: (key) => holders.get(key),
    add(sessionId, key, holder) {
      holders.set(key, holder);
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), key]);
    },
    revoke(sessionId) {
      for (const key of bySession.get(sessionId) ?? []) holders.delete(key);
      bySession.delete(sessionId);
    },
  };
}

function isSame(one: Principal, other: Principal): boolean {
  return one === other || (one.id === other.id && one.scopes.symmetricDifference(other.scopes).size === 0);
}
