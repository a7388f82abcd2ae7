/**
 * Decides whether an address a name resolved to may be dialled.
 *
 * A public address may. Any other only when the operator wrote it down: the registry lists that very address (with the
 * port, unless it is 80 or 443) beside the name, or the name is `localhost` (or below it) and the address is loopback.
 */
import { addressBytes } from './address-bytes.ts';
import { hostAllowed } from './domain-entry.ts';
import { egressRefused } from './egress-refused.ts';
import { GLOBAL_IPV6, SPECIAL_IPV4, SPECIAL_IPV6, type WrappedIpv4 } from './special-ranges.ts';

type Bytes = readonly number[];

interface Prefix {
  readonly bytes: Bytes;
  readonly bits: number;
}

const LOOPBACK = 'loopback';
const IPV4 = SPECIAL_IPV4.map((special) => ({ ...special, ...prefix(special.range) }));
const IPV6 = SPECIAL_IPV6.map((special) => ({ ...special, ...prefix(special.range) }));
const GLOBAL = prefix(GLOBAL_IPV6);

export function isPublicAddress(address: string): boolean {
  return whyNotPublic(address) === undefined;
}

/** Which special range an address is in, in words; undefined for a public one. */
export function whyNotPublic(address: string): string | undefined {
  const bytes = addressBytes(address);
  return bytes === undefined ? 'not an address' : specialRange(bytes);
}

export interface ResolvedTarget {
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** The addresses that may be dialled, in the order given. Throws E_POLICY when there is none. */
export function judgeAddresses(target: ResolvedTarget, allowedDomains: readonly string[]): readonly string[] {
  const { host, addresses } = target;
  const kept = addresses.filter((address) => mayDial(address, target, allowedDomains));
  if (kept.length > 0) return kept;
  const found = addresses.map((address) => `${address} (${whyNotPublic(address)})`).slice(0, 4);
  throw egressRefused(`Host resolves to no public address, but to ${found.join(', ')}`, {
    host,
    reason: 'not_public',
    next: 'if this is meant, ask the operator to add the address itself to network.allowed_domains beside the name',
  });
}

function mayDial(address: string, { host, port }: ResolvedTarget, allowedDomains: readonly string[]): boolean {
  const special = whyNotPublic(address);
  if (special === undefined) return true;
  if (special === LOOPBACK && (host === 'localhost' || host.endsWith('.localhost'))) return true;
  const literal = address.includes(':') ? `[${address}]` : address;
  return hostAllowed(allowedDomains, `${literal}:${port}`) !== undefined;
}

function specialRange(bytes: Bytes): string | undefined {
  if (bytes.length === 4) return IPV4.find((range) => within(bytes, range))?.name;
  const special = IPV6.find((range) => within(bytes, range));
  if (special === undefined) return within(bytes, GLOBAL) ? undefined : 'not assigned for global use';
  return special.wraps === undefined ? special.name : wrappedRange(bytes, special.wraps);
}

function wrappedRange(bytes: Bytes, wraps: readonly WrappedIpv4[]): string | undefined {
  for (const { byte, inverted } of wraps) {
    const inner = bytes.slice(byte, byte + 4).map((value) => (inverted === true ? value ^ 255 : value));
    const special = specialRange(inner);
    if (special !== undefined) return special;
  }
  return undefined;
}

function prefix(range: string): Prefix {
  const [address = '', bits = ''] = range.split('/');
  const bytes = addressBytes(address);
  if (bytes === undefined) throw new TypeError(`Not an address range: ${range}`);
  return { bytes, bits: Number(bits) };
}

function within(bytes: Bytes, { bytes: start, bits }: Prefix): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = bits - at * 8 >= 8 ? 255 : (255 << (8 - (bits - at * 8))) & 255;
    if (((bytes[at] ?? 0) & mask) !== ((start[at] ?? 0) & mask)) return false;
  }
  return true;
}
