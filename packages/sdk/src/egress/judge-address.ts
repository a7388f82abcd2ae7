/**
 * Decides whether an address a name resolved to may be dialled.
 *
 * A public address may. Any other only when the operator wrote it down: the registry lists that very address (with the
 * port, unless it is 80 or 443) beside the name, or the name is `localhost` (or below it) and the address is loopback.
 */
import { hostAllowed } from './domain-entry.ts';
import { egressRefused } from './egress-refused.ts';

/**
 * Addresses that are not reachable by everyone: the IANA special-purpose registries for IPv4 and IPv6, and multicast.
 *
 * Kept as data. The few globally reachable islands inside 192.0.0.0/24 and 2001::/23 serve protocols, not web servers,
 * and stay closed with the block around them. Outside 2000::/3 no IPv6 address is given out for global use at all.
 */
interface SpecialRange {
  readonly range: string;
  readonly name: string;
}

const SPECIAL_IPV4: readonly SpecialRange[] = [
  { range: '0.0.0.0/8', name: 'this network' },
  { range: '10.0.0.0/8', name: 'private' },
  { range: '100.64.0.0/10', name: 'carrier-grade NAT' },
  { range: '127.0.0.0/8', name: 'loopback' },
  { range: '169.254.0.0/16', name: 'link-local' },
  { range: '172.16.0.0/12', name: 'private' },
  { range: '192.0.0.0/24', name: 'protocol assignments' },
  { range: '192.0.2.0/24', name: 'documentation' },
  { range: '192.88.99.0/24', name: 'former 6to4 relay' },
  { range: '192.168.0.0/16', name: 'private' },
  { range: '198.18.0.0/15', name: 'benchmarking' },
  { range: '198.51.100.0/24', name: 'documentation' },
  { range: '203.0.113.0/24', name: 'documentation' },
  { range: '224.0.0.0/4', name: 'multicast' },
  { range: '240.0.0.0/4', name: 'reserved' },
];

/** Where an IPv4 address starts inside 16 bytes; an `inverted` one is stored with every bit flipped. */
interface WrappedIpv4 {
  readonly byte: number;
  readonly inverted?: true;
}

const LAST_FOUR: readonly WrappedIpv4[] = [{ byte: 12 }];

/** The first range that fits decides. One that wraps IPv4 addresses is as public as every address it holds. */
const SPECIAL_IPV6: readonly (SpecialRange & { readonly wraps?: readonly WrappedIpv4[] })[] = [
  { range: '::1/128', name: 'loopback' },
  { range: '::/128', name: 'unspecified' },
  { range: '::/96', name: 'compatible', wraps: LAST_FOUR },
  { range: '::ffff:0:0/96', name: 'mapped', wraps: LAST_FOUR },
  { range: '::ffff:0:0:0/96', name: 'translated', wraps: LAST_FOUR },
  { range: '64:ff9b::/96', name: 'NAT64', wraps: LAST_FOUR },
  { range: '64:ff9b:1::/48', name: 'local NAT64' },
  { range: '100::/64', name: 'discard-only' },
  { range: '100:0:0:1::/64', name: 'dummy prefix' },
  { range: '2001::/32', name: 'Teredo', wraps: [{ byte: 4 }, { byte: 12, inverted: true }] },
  { range: '2001::/23', name: 'protocol assignments' },
  { range: '2001:db8::/32', name: 'documentation' },
  { range: '2002::/16', name: '6to4', wraps: [{ byte: 2 }] },
  { range: '3fff::/20', name: 'documentation' },
  { range: '5f00::/16', name: 'segment routing' },
  { range: 'fc00::/7', name: 'private' },
  { range: 'fe80::/10', name: 'link-local' },
  { range: 'fec0::/10', name: 'former site-local' },
  { range: 'ff00::/8', name: 'multicast' },
];

const GLOBAL_IPV6 = '2000::/3';

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

/**
 * Addresses as the 4 or 16 bytes they are, so that two spellings of one address are treated the same.
 *
 * Undefined for what is not a plain address; a zone (`fe80::1%eth0`) has no place in one.
 */
export function addressBytes(address: string): readonly number[] | undefined {
  return address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address);
}

function ipv4Bytes(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function ipv6Bytes(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, at) => groupBytes(half, { isLast: at === halves.length - 1 }));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail.length;
  return missing < 2 ? undefined : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

/** The very last group may be a dotted IPv4 address. */
function groupBytes(text: string, { isLast }: { readonly isLast: boolean }): readonly number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [at, group] of groups.entries()) {
    const dotted = isLast && at === groups.length - 1 && group.includes('.') ? ipv4Bytes(group) : undefined;
    if (dotted !== undefined) bytes.push(...dotted);
    else if (/^[0-9a-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else return undefined;
  }
  return bytes;
}
