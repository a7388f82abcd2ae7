/** Looks a name up once, all addresses at once, the way every other program of this machine would. */
import { lookup } from 'node:dns/promises';

export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};
