/** `network`: hosts that may be contacted, and hosts that may be sent credentials over plain http. */
import { z } from 'zod';
import { domainCovers } from '../../egress/domain-entry.ts';
import { type Narrowing, placeEntry } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { domainText, readDomain } from '../texts.ts';

const LIST = 'network.allowed_domains';

const schema = z.strictObject({
  allowed_domains: z
    .array(domainText)
    .default([])
    .describe(
      'Hosts that may be contacted on ports 80 and 443: example.org exactly, *.example.org for subdomains; other ports as host:port',
    ),
  insecure_credentials: z
    .array(domainText)
    .exactOptional()
    .describe(
      'Hosts that may be sent credentials over plain http, written as in allowed_domains; left out: credentials need https',
    ),
});

export const network = defineSection({
  keys: { network: schema.prefault({}).describe('Egress; left out: none') },
  build: ({ network: { allowed_domains, insecure_credentials } }) => ({
    allowedDomains: domainEntries(allowed_domains),
    insecureCredentials: domainEntries(insecure_credentials),
  }),
  narrow: (narrowing) => ({
    allowedDomains: narrowDomains(narrowing),
    insecureCredentials: narrowInsecureCredentials(narrowing),
  }),
  lists: { [LIST]: (written) => domainEntries(written.network.allowed_domains) },
  needs: (written) => (written.network.allowed_domains.length > 0 ? 'network' : undefined),
});

function domainEntries(list: readonly string[] = []): readonly string[] {
  return list.map((written) => {
    const reading = readDomain(written);
    return 'entry' in reading ? reading.entry : written;
  });
}

/** An entry wider than the host's is cut down to the host's entries inside it. */
function narrowDomains(narrowing: Narrowing): readonly string[] {
  const { host, session } = narrowing;
  const kept = new Set<string>();
  const keep = (name: string, spot: ReturnType<typeof host.spot>): void => {
    if (kept.has(name)) return;
    placeEntry(narrowing, LIST, { index: kept.size, name, spot });
    kept.add(name);
  };
  for (const [index, entry] of session.allowedDomains.entries()) {
    const path = `${LIST}.${index}`;
    if (host.allowedDomains.some((outer) => domainCovers(outer, entry))) {
      keep(entry, session.spot(path));
      continue;
    }
    narrowing.overreach.push({ path, message: `Domain is not allowed by the host: ${entry}` });
    for (const [at, inner] of host.allowedDomains.entries()) {
      if (domainCovers(entry, inner)) keep(inner, host.spot(`${LIST}.${at}`));
    }
  }
  return [...kept];
}

/** The host decides what may be read on the way: a session can only take entries away. */
function narrowInsecureCredentials({ host, session, overreach }: Narrowing): readonly string[] {
  const isGiven = (entry: string): boolean => host.insecureCredentials.some((outer) => domainCovers(outer, entry));
  for (const [index, entry] of session.insecureCredentials.entries()) {
    if (isGiven(entry)) continue;
    const path = `network.insecure_credentials.${index}`;
    overreach.push({ path, message: `Credentials over plain http are not allowed by the host: ${entry}` });
  }
  return session.insecureCredentials.filter(isGiven);
}
