/**
 * Providers a session may use. Known ones need no entry in a registry, so what a session's registry leaves out of its
 * host's table would come back as the known one: it counts as taken away instead.
 */
import type { Registry } from '@tool-runtime/sdk';

type Providers = Registry['providers'];

export function isGranted(provider: string, host: Providers, session: Providers): boolean {
  return !Object.hasOwn(host, provider) || Object.hasOwn(session, provider);
}

/** Nothing of the host's table was taken away. */
export function isWholeTable(host: Providers, session: Providers): boolean {
  return Object.keys(host).every((provider) => isGranted(provider, host, session));
}
