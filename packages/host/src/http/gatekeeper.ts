/** Checks every request before a route sees it: its target, listener, page and credentials. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import { type ConsoleAccess, readHalves } from '../auth/console-access.ts';
import type { Exposure } from '../auth/exposure.ts';
import type { FailedAttempts } from '../auth/failed-attempts.ts';
import type { Principal } from '../auth/principal.ts';
import { headerValues, readCredentials } from '../auth/read-credentials.ts';
import type { TokenBook } from '../auth/tokens.ts';

export interface Gatekeeper {
  judgeExposure(incoming: IncomingMessage): ToolError | undefined;
  /** For every answer, or for the answer to a preflight, which says more. */
  corsHeaders(incoming: IncomingMessage): Readonly<Record<string, string>>;
  /** Throws ToolError; there is no anonymous principal. */
  authenticate(incoming: IncomingMessage, options?: { readonly isUpgrade?: boolean }): Principal;
  /** Whether the request comes from a page that this host served, by its Origin. */
  isOwnPage(incoming: IncomingMessage): boolean;
  /** For connections that stay open: whether what they came with still counts. */
  isWelcome(principal: Principal): boolean;
}

export interface GatekeeperOptions {
  readonly tokens: TokenBook;
  /** Asked for with each request, because the port is known only once the server listens. */
  readonly exposure: () => Exposure;
  /** The peer of a Unix socket; undefined on every other kind. */
  readonly peerOf: (socket: Socket) => Principal | undefined;
  /** Where the console may sign in; undefined where there are no pages. */
  readonly console?: ConsoleAccess;
  /** All entrances of a host share one. */
  readonly attempts: FailedAttempts;
  /** Whom a failed attempt is counted against. */
  readonly sourceOf: (socket: Socket) => string;
}

const NONE: Readonly<Record<string, string>> = {};

/** Letters, digits and marks as they are; anything else percent-encoded. */
const SEGMENT = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
/** Characters that need no encoding must not be encoded. */
const NEEDLESS = /%(?:2[DEde]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])/;
const RELATIVE: ReadonlySet<string> = new Set(['.', '..']);

export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { tokens, exposure, peerOf, attempts, sourceOf, console } = options;
  const peers = new WeakSet<Principal>();

  function isOwnPage({ rawHeaders }: IncomingMessage): boolean {
    return exposure().isOwnPage({ host: headerValues(rawHeaders, 'host'), origin: headerValues(rawHeaders, 'origin') });
  }

  /** Undefined for a request without a cookie of the console. */
  function personOf(incoming: IncomingMessage, access: ConsoleAccess): Principal | undefined {
    const halves = readHalves(incoming.rawHeaders, incoming.socket.localPort);
    if (halves === undefined) return undefined;
    const isChange = incoming.method !== 'GET';
    if ((isChange || incoming.headers.origin !== undefined) && !isOwnPage(incoming)) throw foreignPage();
    const person = access.find(halves);
    if (person === undefined) throw signedOut();
    return person;
  }

  function prove(incoming: IncomingMessage, isUpgrade: boolean): Principal {
    const token = readCredentials(incoming, { isUpgrade });
    if (token !== undefined) {
      const principal = tokens.find(token);
      if (principal === undefined) throw badToken();
      return principal;
    }
    // A token that was given decides, also when it is worse than what the kernel would vouch for.
    const person = isUpgrade || console === undefined ? undefined : personOf(incoming, console);
    if (person !== undefined) return person;
    const peer = peerOf(incoming.socket);
    if (peer === undefined) throw missingToken();
    peers.add(peer);
    return peer;
  }

  return {
    judgeExposure: ({ rawHeaders }) =>
      exposure().judge({
        host: headerValues(rawHeaders, 'host'),
        origin: headerValues(rawHeaders, 'origin'),
        secFetchSite: headerValues(rawHeaders, 'sec-fetch-site'),
      }),
    corsHeaders({ method, headers }) {
      if (headers.origin === undefined) return NONE;
      return method === 'OPTIONS'
        ? exposure().preflightHeaders(headers.origin)
        : exposure().corsHeaders(headers.origin);
    },
    authenticate: (incoming, { isUpgrade = false } = {}) =>
      attempts.judge(sourceOf(incoming.socket), () => prove(incoming, isUpgrade)),
    isOwnPage,
    isWelcome: (principal) =>
      peers.has(principal) || tokens.isCurrent(principal) || console?.sessionOf(principal) !== undefined,
  };
}

function foreignPage(): ToolError {
  return new ToolError('E_POLICY', 'Changes by cookie are taken from the console of this host alone', {
    details: { gate: 'auth', reason: 'foreign_page', next: 'use a bearer token' },
  });
}

function signedOut(): ToolError {
  return new ToolError('E_POLICY', 'Not signed in, or no longer', {
    details: { gate: 'auth', reason: 'signed_out', next: 'get a fresh link: tool-runtime console' },
  });
}

function missingToken(): ToolError {
  return new ToolError('E_POLICY', 'Token is missing', {
    details: {
      gate: 'auth',
      reason: 'token_missing',
      next: 'send Authorization: Bearer with the token of the token file',
    },
  });
}

function badToken(): ToolError {
  return new ToolError('E_POLICY', 'Token is not valid here', {
    details: { gate: 'auth', reason: 'token_invalid', next: 'read the token file again; the token may have expired' },
  });
}

/**
 * Which request targets are read at all. A path has one spelling here: nothing is decoded, shortened or resolved to see
 * where it might lead, so a proxy in front of the host reads it the same way as the host.
 *
 * The refusal, or undefined for a target that is an absolute path and perhaps a query.
 */
export function judgeTarget(target: string): ToolError | undefined {
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/') || target.includes('#')) {
    return new ToolError('E_VALIDATION_FAIL', 'Request target is not a path', {
      details: { reason: 'malformed', next: 'send an absolute path, with neither host nor fragment' },
    });
  }
  const isPlain = path === '/' || path.slice(1).split('/').every(isSegment);
  return isPlain ? undefined : unknownRoute();
}

function isSegment(text: string): boolean {
  return SEGMENT.test(text) && !NEEDLESS.test(text) && !RELATIVE.has(text);
}

export function unknownRoute(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'There is nothing at this path', {
    details: { reason: 'unknown_route', next: 'see GET /openapi.json' },
  });
}
