/**
 * Entries of the egress allowlist: `example.org` is that host alone, `*.example.org` every host below it and not itself.
 *
 * An entry without a port means the web's own ports, 80 and 443; any other port has to be written (`example.org:8443`).
 * Entries and hosts go through one normal form (ASCII, lower case, no trailing dot), so they are compared as equal
 * strings. Numeric spellings of addresses that only a URL parser would recognise are refused, not guessed.
 */

export interface DomainEntry {
  readonly wildcard: boolean;
  /** As written in the entry: `normalHost` gives the form to compare. */
  readonly host: string;
  /** Empty: 80 and 443. */
  readonly port: string;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const WEB_PORTS: readonly string[] = ['80', '443'];

/** Whether a host in normal form is an address and not a name. */
export function isAddress(host: string): boolean {
  return host.startsWith('[') || IPV4.test(host);
}

/** Undefined for what is not one plain host name or address. */
export function normalHost(written: string): string | undefined {
  if (/[\s\u0000-\u001f\u007f/\\?#@%*<>^|]/.test(written)) return undefined;
  const bare = written.endsWith('.') ? written.slice(0, -1) : written;
  const bracketed = bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare;
  const url = URL.parse(`http://${bracketed}/`);
  if (url === null || url.port !== '') return undefined;
  const host = url.hostname;
  if (host.startsWith('[')) return host;
  if (IPV4.test(host)) return host === bare ? host : undefined;
  return NAME.test(host) ? host : undefined;
}

/** `host:port`, `[address]:port` or neither; a bare IPv6 address keeps all its colons. */
function splitPort(written: string): { readonly host: string; readonly port: string } {
  const found = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(written);
  return { host: found?.[1] ?? written, port: found?.[2] ?? '' };
}

export function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

export function splitEntry(entry: string): DomainEntry {
  const wildcard = entry.startsWith('*.') || entry.startsWith('.');
  const rest = wildcard ? entry.slice(entry.indexOf('.') + 1) : entry;
  return { wildcard, ...splitPort(rest) };
}

/** Whether everything the inner entry allows is allowed by the outer one. Both in normal form. */
export function domainCovers(outer: string, inner: string): boolean {
  const wide = splitEntry(outer);
  const narrow = splitEntry(inner);
  if (!portCovers(wide.port, narrow.port)) return false;
  if (!wide.wildcard) return !narrow.wildcard && narrow.host === wide.host;
  if (narrow.wildcard && narrow.host === wide.host) return true;
  return !isAddress(narrow.host) && narrow.host.endsWith(`.${wide.host}`);
}

function portCovers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide === '' && WEB_PORTS.includes(narrow));
}

/**
 * The entry that allows a host, or undefined. Callers pass the port they will really use (`host:port`), also a default
 * one; a host without a port is allowed only where both web ports are.
 */
export function hostAllowed(domains: readonly string[], host: string): string | undefined {
  const { host: writtenHost, port } = splitPort(host);
  const name = writtenHost === '' || (port !== '' && !isPort(port)) ? undefined : normalHost(writtenHost);
  if (name === undefined) return undefined;
  const asked = port === '' ? name : `${name}:${port}`;
  return domains.find((entry) => domainCovers(entry, asked));
}
