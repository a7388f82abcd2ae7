/**
 * Addresses that are not reachable by everyone: the IANA special-purpose registries for IPv4 and IPv6, and multicast.
 *
 * Kept as data. The few globally reachable islands inside 192.0.0.0/24 and 2001::/23 serve protocols, not web servers,
 * and stay closed with the block around them. Outside 2000::/3 no IPv6 address is handed out for global use at all.
 */

export interface SpecialRange {
  readonly range: string;
  readonly name: string;
}

export const SPECIAL_IPV4: readonly SpecialRange[] = [
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
export interface WrappedIpv4 {
  readonly byte: number;
  readonly inverted?: true;
}

const LAST_FOUR: readonly WrappedIpv4[] = [{ byte: 12 }];

/** The first range that fits decides. One that wraps IPv4 addresses is as public as every address it holds. */
export const SPECIAL_IPV6: readonly (SpecialRange & { readonly wraps?: readonly WrappedIpv4[] })[] = [
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

export const GLOBAL_IPV6 = '2000::/3';
