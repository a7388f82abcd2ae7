/**
 * Entries of the egress allowlist: `example.org` is that host alone, `*.example.org` every host below it and not itself.
 *
 * Entries and hosts go through one normal form (ASCII, lower case, no trailing dot), so they are compared as equal
 * strings. Numeric spellings of addresses that only a URL parser would recognise are refused, not guessed.
 */
import { excerpt } from './problems.ts';

type DomainReading = { readonly entry: string } | { readonly problem: string };

interface DomainParts {
  readonly wildcard: boolean;
  readonly host: string;
  /** Empty: every port. */
  readonly port: string;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

function isAddress(host: string): boolean {
  return host.startsWith('[') || IPV4.test(host);
}

/** Undefined for what is not one plain host name or address. */
function normalHost(written: string): string | undefined {
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

function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

function splitEntry(entry: string): DomainParts {
  const wildcard = entry.startsWith('*.') || entry.startsWith('.');
  const rest = wildcard ? entry.slice(entry.indexOf('.') + 1) : entry;
  return { wildcard, ...splitPort(rest) };
}

/** The normal form of one allowlist entry, or what is wrong with it. */
export function readDomain(written: string): DomainReading {
  const shown = excerpt(written);
  if (written.includes('://')) return { problem: `Domain has a scheme: ${shown} (write the host alone)` };
  if (written.includes('/')) return { problem: `Domain has a path: ${shown} (write the host alone)` };
  if (written.includes('@')) return { problem: `Domain has user information: ${shown} (write the host alone)` };
  const { wildcard, host: writtenHost, port } = splitEntry(written);
  if (writtenHost.includes('*')) {
    return { problem: `Wildcard is only allowed as the first label: ${shown} (write *.example.org)` };
  }
  if (port !== '' && !isPort(port)) return { problem: `Port is not between 1 and 65535: ${shown}` };
  const host = normalHost(writtenHost);
  if (host === undefined) return { problem: `Not a host name or plain address: ${shown}` };
  if (wildcard && isAddress(host)) return { problem: `An address has no subdomains: ${shown}` };
  return { entry: `${wildcard ? '*.' : ''}${host}${port === '' ? '' : `:${port}`}` };
}

/** Whether everything the inner entry allows is allowed by the outer one. Both in normal form. */
export function domainCovers(outer: string, inner: string): boolean {
  const wide = splitEntry(outer);
  const narrow = splitEntry(inner);
  if (wide.port !== '' && wide.port !== narrow.port) return false;
  if (!wide.wildcard) return !narrow.wildcard && narrow.host === wide.host;
  if (narrow.wildcard && narrow.host === wide.host) return true;
  return !isAddress(narrow.host) && narrow.host.endsWith(`.${wide.host}`);
}

/**
 * The entry that allows a host, or undefined. An entry without a port allows every port; one with a port allows a host
 * given as `host:port` only, so callers pass the port they will really use, also the default one.
 */
export function hostAllowed(domains: readonly string[], host: string): string | undefined {
  const { host: writtenHost, port } = splitPort(host);
  const name = writtenHost === '' || (port !== '' && !isPort(port)) ? undefined : normalHost(writtenHost);
  if (name === undefined) return undefined;
  const asked = port === '' ? name : `${name}:${port}`;
  return domains.find((entry) => domainCovers(entry, asked));
}
