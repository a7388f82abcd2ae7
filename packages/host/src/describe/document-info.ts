/** What both documents say about the host as a whole. */

export const DEFAULT_ADDRESS = '127.0.0.1:7411';

export function documentInfo(version: string, description: string) {
  return {
    title: 'Tool Runtime host',
    version,
    description,
    license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  } as const;
}

export const BEARER_NOTE =
  'A token of the token file, or the token of one session. On the Unix socket the kernel vouches for a client of the ' +
  'same user, who needs none. Never in a URL.';
