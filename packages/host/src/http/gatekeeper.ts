/** Judges every request before a route sees it: where it came in, from which page, on whose behalf. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import type { Exposure } from '../auth/exposure.ts';
import type { FailedAttempts } from '../auth/failed-attempts.ts';
import { headerValues } from '../auth/header-values.ts';
import type { Principal } from '../auth/principal.ts';
import { readCredentials } from '../auth/read-credentials.ts';
import type { TokenBook } from '../auth/tokens.ts';

export interface Gatekeeper {
  judgeExposure(incoming: IncomingMessage): ToolError | undefined;
  /** For every answer, or for the answer to a preflight, which says more. */
  corsHeaders(incoming: IncomingMessage): Readonly<Record<string, string>>;
  /** Throws ToolError; there is no anonymous principal. */
  authenticate(incoming: IncomingMessage, options?: { readonly isUpgrade?: boolean }): Principal;
  /** For connections that stay open: whether what they came with still counts. */
  isWelcome(principal: Principal): boolean;
}

export interface GatekeeperOptions {
  readonly tokens: TokenBook;
  /** Asked for with each request, because the port is known only once the server listens. */
  readonly exposure: () => Exposure;
  /** Who is at the other end of a Unix socket; undefined on every other kind. */
  readonly peerOf: (socket: Socket) => Principal | undefined;
  /** All entrances of a host share one. */
  readonly attempts: FailedAttempts;
  /** Whom a failed attempt is counted against. */
  readonly sourceOf: (socket: Socket) => string;
}

const NONE: Readonly<Record<string, string>> = {};

export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { tokens, exposure, peerOf, attempts, sourceOf } = options;
  const peers = new WeakSet<Principal>();

  function prove(incoming: IncomingMessage, isUpgrade: boolean): Principal {
    const token = readCredentials(incoming, { isUpgrade });
    if (token !== undefined) {
      const principal = tokens.find(token);
      if (principal === undefined) throw badToken();
      return principal;
    }
    // A token that was given decides, also when it is worse than what the kernel would vouch for.
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
    isWelcome: (principal) => peers.has(principal) || tokens.isCurrent(principal),
  };
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
