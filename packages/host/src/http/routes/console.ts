/** Routes that let a person into the console: a one-time link, its exchange for a cookie, and the way out. */
import {
  consoleLinkBodySchema,
  consoleLinkSchema,
  consoleSessionSchema,
  signedInSchema,
  signInSchema,
  ToolError,
} from '@tool-runtime/protocol';
import { type ConsoleSession, cookieName } from '../../auth/console-access.ts';
import { addressSource } from '../../auth/failed-attempts.ts';
import { defineRoute, type RouteCall } from '../route.ts';

/** Gives no more than the asking token has. */
export const consoleLink = defineRoute({
  id: 'consoleLink',
  method: 'post',
  path: '/v1/console/links',
  summary: 'Make a link to the console that works once, within ten minutes',
  description:
    'Needs the scopes of the role too: read and audit, and for an approver approve and call. Who signs in with the link is ' +
    'signed out when the token that made it expires or is revoked.',
  scope: 'admin',
  body: consoleLinkBodySchema,
  answers: { 201: { description: 'The link', schema: consoleLinkSchema } },
  handle({ host, principal, isWelcome, body }) {
    const { code, role, expiresAt } = host.console.mint(body.role, principal, isWelcome);
    return { status: 201, json: { role, path: `/#code=${code}`, expires_at: Math.floor(expiresAt / 1000) } };
  },
});

/** Failures count like those of tokens. Only the console's own page may sign in, so that no other page can choose who is. */
export const consoleSignIn = defineRoute({
  id: 'consoleSignIn',
  method: 'post',
  path: '/v1/console/sign-in',
  summary: 'Exchange the code of a link for a cookie and the key that goes with it',
  description: 'Needs an `Origin` that is the address of the host. The cookie is HttpOnly and SameSite=Strict.',
  scope: 'open',
  body: signInSchema,
  answers: {
    200: { description: 'Signed in', schema: signedInSchema },
    401: { description: 'The code was used, has expired or never was one' },
    403: { description: 'The request does not come from the console of this host' },
  },
  handle({ host, body, incoming, outgoing, isOwnPage }) {
    if (!isOwnPage()) throw foreignSignIn();
    const source = addressSource(incoming.socket.remoteAddress);
    const signedIn = host.attempts.judge(source, () => host.console.exchange(body.code));
    outgoing.setHeader('set-cookie', cookieOf(incoming, signedIn.cookie));
    host.log.info('console_signed_in', { name: signedIn.principal.name, role: signedIn.role });
    return { status: 200, json: { ...describe(signedIn, host), key: signedIn.key } };
  },
});

export const consoleSession = defineRoute({
  id: 'consoleSession',
  method: 'get',
  path: '/v1/console/session',
  summary: 'Who is signed in to the console with this cookie',
  scope: 'any',
  answers: { 200: { description: 'The session of the console', schema: consoleSessionSchema } },
  handle: ({ host, principal }) => ({ status: 200, json: describe(sessionOf(host, principal), host) }),
});

export const consoleSignOut = defineRoute({
  id: 'consoleSignOut',
  method: 'post',
  path: '/v1/console/sign-out',
  summary: 'End the session of the console; its cookie and key are worth nothing afterwards',
  scope: 'any',
  answers: { 204: { description: 'Signed out' } },
  handle({ host, principal, incoming, outgoing }) {
    sessionOf(host, principal);
    host.console.end(principal);
    outgoing.setHeader('set-cookie', `${cookieOf(incoming, '')}; Max-Age=0`);
    return { status: 204 };
  },
});

function sessionOf(host: RouteCall['host'], principal: RouteCall['principal']): ConsoleSession {
  const found = host.console.sessionOf(principal);
  if (found !== undefined) return found;
  throw new ToolError('E_POLICY', 'This is about the console, and no cookie of it was sent', {
    details: { gate: 'auth', reason: 'no_console_session', next: 'get a link: tool-runtime console' },
  });
}

function describe({ role, principal, expiresAt }: ConsoleSession, { fleetState }: RouteCall['host']) {
  return {
    role,
    name: principal.name,
    scopes: [...principal.scopes],
    expires_at: Math.floor(expiresAt / 1000),
    ...(fleetState === undefined ? {} : { in_fleet: true }),
  };
}

function cookieOf({ socket }: RouteCall['incoming'], value: string): string {
  const secure = 'encrypted' in socket ? '; Secure' : '';
  return `${cookieName(socket.localPort)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

function foreignSignIn(): ToolError {
  return new ToolError('E_POLICY', 'Only the console of this host signs in here', {
    details: { gate: 'auth', reason: 'foreign_page', next: 'open the link in a browser' },
  });
}
