/**
 * What the next request of a redirect looks like, before a connection is thought of.
 *
 * The target is checked like a first URL. Credentials stay with the origin they were given for.
 */
import { egressRefused } from './egress-refused.ts';
import { type JudgedUrl, judgeRedirect } from './judge-url.ts';

export const MAX_REDIRECTS = 3;

export interface Hop {
  readonly method: string;
  readonly target: JudgedUrl;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | null;
}

/** Apart from Authorization and Cookie, names that services use: X-Api-Key, Private-Token, X-Auth-Token … */
const CREDENTIAL = /auth|cookie|token|secret|session|credential|passw|key/;
const KEEPS_METHOD: readonly number[] = [307, 308];
const BECOMES_GET: readonly number[] = [301, 302, 303];

export function isRedirect(status: number): boolean {
  return KEEPS_METHOD.includes(status) || BECOMES_GET.includes(status);
}

/** `followed` counts the redirects so far. Throws E_POLICY for a target that is not allowed and for one redirect too many. */
export function followRedirect(
  hop: Hop,
  answer: { readonly status: number; readonly location: string },
  followed: number,
  allowedDomains: readonly string[],
): Hop {
  const from = hop.target.url;
  if (followed >= MAX_REDIRECTS) {
    throw egressRefused(`More than ${MAX_REDIRECTS} redirects`, {
      host: from.host,
      reason: 'too_many_redirects',
      next: 'ask for the final address directly',
    });
  }
  const target = judgeRedirect(answer.location, from, allowedDomains);
  if (from.protocol === 'https:' && target.url.protocol === 'http:') {
    throw egressRefused('Redirect leaves https', {
      host: target.url.host,
      reason: 'downgrade',
      next: 'ask for the http address directly if plain text is acceptable',
    });
  }
  const headers = new Map(hop.headers);
  if (target.url.origin !== from.origin) remove(headers, CREDENTIAL);
  if (KEEPS_METHOD.includes(answer.status) || hop.method === 'HEAD') return { ...hop, target, headers };
  remove(headers, /^content-/);
  return { method: 'GET', target, headers, body: null };
}

function remove(headers: Map<string, string>, names: RegExp): void {
  for (const name of headers.keys()) if (names.test(name)) headers.delete(name);
}
