/** Reads what an operator wrote as an entry of the egress allowlist, or says what is wrong with it. */
import { safeText } from '@tool-runtime/protocol/internal';
import { isAddress, isPort, normalHost, splitEntry } from '../egress/domain-entry.ts';

type DomainReading = { readonly entry: string } | { readonly problem: string };

/** The normal form of one allowlist entry, or what is wrong with it. */
export function readDomain(written: string): DomainReading {
  const shown = safeText(written, 80);
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
