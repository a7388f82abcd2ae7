/**
 * Decides from its text alone whether a URL may be contacted, and takes it apart exactly once.
 *
 * What the parser would quietly repair (tabs, newlines, backslashes) is refused before it parses, because a person who
 * reads such a text sees another host than the one that would be dialled. Nothing here looks a name up.
 */
import { hostAllowed, isAddress } from './domain-entry.ts';
import { egressRefused } from './egress-refused.ts';

export interface JudgedUrl {
  /** Its host is in normal form; this is the text to dial and to report. */
  readonly url: URL;
  /** A name, or an address (IPv6 in brackets), lower case, ASCII, without trailing dot. */
  readonly host: string;
  readonly port: number;
  /** The allowlist entry that lets it through. */
  readonly entry: string;
}

const MAX_URL_CHARS = 8192;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Throws E_POLICY. `allowedDomains` are registry entries in normal form. */
export function judgeUrl(raw: string, allowedDomains: readonly string[]): JudgedUrl {
  const url = parseUrl(raw);
  const scheme = url.protocol;
  const defaultPort = DEFAULT_PORTS[scheme];
  if (defaultPort === undefined) {
    throw egressRefused(`URL scheme is not http or https: ${scheme.slice(0, 20)}`, {
      reason: 'scheme',
      next: 'give an http or https URL',
    });
  }
  const host = withoutTrailingDot(url.hostname);
  if (url.username !== '' || url.password !== '') {
    throw egressRefused('URL holds user information', {
      host,
      reason: 'userinfo',
      next: 'send credentials in a header',
    });
  }
  const port = url.port === '' ? defaultPort : url.port;
  const entry = host.endsWith('.') ? undefined : hostAllowed(allowedDomains, `${host}:${port}`);
  if (entry === undefined) throw notListed(host, url.port);
  if (host !== url.hostname) url.hostname = host;
  return { url, host, port: Number(port), entry };
}

/** The target of a redirect: relative to the URL that answered, and refused for the same characters. */
export function judgeRedirect(location: string, from: URL, allowedDomains: readonly string[]): JudgedUrl {
  return judgeUrl(parseUrl(location, from).href, allowedDomains);
}

function parseUrl(raw: string, base?: URL): URL {
  if (raw.length > MAX_URL_CHARS) {
    throw egressRefused(`URL is longer than ${MAX_URL_CHARS} characters`, { reason: 'too_long', next: 'shorten it' });
  }
  // Control and format characters, every kind of blank, and the backslash that parsers read as a slash.
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(raw) || !raw.isWellFormed()) {
    throw egressRefused('URL holds blanks, control characters or backslashes', {
      reason: 'deceptive_character',
      next: 'percent-encode such characters in path and query; they are not allowed in a host',
    });
  }
  const url = URL.parse(raw, base?.href);
  if (url === null) throw egressRefused('URL cannot be parsed', { reason: 'unparsable', next: 'give an absolute URL' });
  return url;
}

/** One dot at most: `host..` names nothing, and stays as it is to be refused. */
function withoutTrailingDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

function notListed(host: string, port: string): Error {
  const shown = host.length > 253 ? `${host.slice(0, 253)}…` : host;
  const named = port === '' ? shown : `${shown}:${port}`;
  const what = isAddress(host) ? 'Address is not in the allowlist' : 'Host is not in the allowlist';
  return egressRefused(what, {
    host: named,
    reason: 'not_listed',
    next: `contact a listed host, or ask the operator to add ${named} to network.allowed_domains`,
  });
}
