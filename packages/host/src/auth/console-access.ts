/**
 * Browsers of people: a one-time code becomes a session of the console, which is known by two halves.
 *
 * The cookie is out of reach of scripts, but browsers send it to every port of a machine. The key is held by the page and
 * belongs to its origin, port included, but scripts can read it. A request needs both, so that neither a server on another
 * port nor a page of another origin can use what it gets hold of. Kept in memory by digest: a restart signs everyone out. A
 * session also ends with the token that its link was made with.
 */
import { randomBytes } from 'node:crypto';
import { type ConsoleRole, type Scope, ToolError } from '@tool-runtime/protocol';
import { type Principal, requireScope } from './principal.ts';
import { headerValues } from './read-credentials.ts';
import { digestToken } from './token-digest.ts';

export const CODE_LIFE_MS = 10 * 60_000;
export const SESSION_LIFE_MS = 12 * 60 * 60_000;
const MAX_CODES = 64;
const MAX_SESSIONS = 256;
const KEY_HEADER = 'x-console-key';

/** A role never has more than the one who gave it: see `mint`. */
const SCOPES_OF: Readonly<Record<ConsoleRole, readonly Scope[]>> = {
  viewer: ['read', 'audit'],
  approver: ['read', 'audit', 'approve', 'call'],
};

export interface ConsoleCode {
  readonly code: string;
  readonly role: ConsoleRole;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface ConsoleSession {
  readonly principal: Principal;
  readonly role: ConsoleRole;
  readonly expiresAt: number;
}

export interface ConsoleAccess {
  /** Throws E_POLICY when `by` lacks a scope of the role. Code and session count while `isWelcome` says that `by` does. */
  mint(role: ConsoleRole, by: Principal, isWelcome: () => boolean): ConsoleCode;
  /** Throws E_POLICY for a code that is unknown, used or expired. A code works once. */
  exchange(code: string): ConsoleSession & { readonly cookie: string; readonly key: string };
  /** Undefined for halves that do not belong together, or no longer count. */
  find(halves: ConsoleHalves): Principal | undefined;
  /** The session behind a principal that `find` gave, while it lasts. */
  sessionOf(principal: Principal): ConsoleSession | undefined;
  end(principal: Principal): void;
}

export interface ConsoleHalves {
  readonly cookie: string;
  readonly key: string;
}

interface Held extends ConsoleSession, Given {
  readonly keyDigest: string;
}

interface Given {
  readonly expiresAt: number;
  /** Whether the one who gave it is still welcome. */
  readonly isWelcome: () => boolean;
}

export function createConsoleAccess({ now }: { readonly now: () => number }): ConsoleAccess {
  const codes = new Map<string, Given & { readonly role: ConsoleRole; readonly by: string }>();
  const sessions = new Map<string, Held>();

  function current<Kept extends Given>(held: Kept | undefined): Kept | undefined {
    return held !== undefined && held.expiresAt > now() && held.isWelcome() ? held : undefined;
  }

  return {
    mint(role, by, isWelcome) {
      for (const scope of SCOPES_OF[role]) requireScope(by, scope);
      const code = randomBytes(24).toString('base64url');
      const expiresAt = now() + CODE_LIFE_MS;
      codes.set(digestToken(code), { role, by: by.name, expiresAt, isWelcome });
      dropOldest(codes, MAX_CODES);
      return { code, role, expiresAt };
    },
    exchange(code) {
      const digest = digestToken(code);
      const found = current(codes.get(digest));
      codes.delete(digest);
      if (found === undefined) throw badCode();
      const [cookie, key, name] = [randomBytes(32), randomBytes(32), randomBytes(3)];
      const principal: Principal = {
        id: `console:${randomBytes(12).toString('hex')}`,
        name: `${found.by}/console-${name.toString('hex')}`,
        scopes: new Set(SCOPES_OF[found.role]),
      };
      const session = { principal, role: found.role, expiresAt: now() + SESSION_LIFE_MS };
      const halves = { cookie: cookie.toString('base64url'), key: key.toString('base64url') };
      sessions.set(digestToken(halves.cookie), {
        ...session,
        isWelcome: found.isWelcome,
        keyDigest: digestToken(halves.key),
      });
      dropOldest(sessions, MAX_SESSIONS);
      return { ...session, ...halves };
    },
    find({ cookie, key }) {
      const held = current(sessions.get(digestToken(cookie)));
      return held !== undefined && held.keyDigest === digestToken(key) ? held.principal : undefined;
    },
    sessionOf: (principal) => current([...sessions.values()].find((held) => held.principal === principal)),
    end(principal) {
      for (const [digest, held] of sessions) if (held.principal === principal) sessions.delete(digest);
    },
  };
}

function dropOldest(entries: Map<string, unknown>, most: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}

function badCode(): ToolError {
  return new ToolError('E_POLICY', 'Code is not valid: it works once, and only for ten minutes', {
    details: { gate: 'auth', reason: 'code_invalid', next: 'get a fresh link: tool-runtime console' },
  });
}

/** Cookies are shared by all ports of a machine: each host has a name of its own. */
export function cookieName(port: number | undefined): string {
  return `tool_runtime_console_${port ?? 0}`;
}

/** Undefined when the request carries no cookie of the console. Throws when it carries one in a form that is refused. */
export function readHalves(rawHeaders: readonly string[], port: number | undefined): ConsoleHalves | undefined {
  const name = `${cookieName(port)}=`;
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((value) => value.split(';').map((pair) => pair.trim()));
  const [cookie, ...twins] = pairs.filter((pair) => pair.startsWith(name)).map((pair) => pair.slice(name.length));
  if (cookie === undefined) return undefined;
  const [key, ...more] = headerValues(rawHeaders, KEY_HEADER);
  if (key === undefined || twins.length > 0 || more.length > 0) throw unkeyed();
  return { cookie, key };
}

function unkeyed(): ToolError {
  return new ToolError('E_POLICY', 'Cookie of the console comes without the key of its page', {
    details: { gate: 'auth', reason: 'console_key', next: 'open the console itself: tool-runtime console' },
  });
}
