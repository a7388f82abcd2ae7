/** What kind of place a remote's configured address names. Nothing here touches the network or a file. */
import type { GitConfig } from '../contracts/git.ts';
import { gitFailure } from './git-failure.ts';

export type RemoteAddress =
  | { readonly transport: 'http'; readonly url: string; readonly shown: string }
  | { readonly transport: 'local'; readonly path: string; readonly shown: string }
  | SshAddress;

export interface SshAddress {
  readonly transport: 'ssh';
  /** As git is given it. */
  readonly url: string;
  readonly user: string | undefined;
  /** A name of the operator's ssh configuration, or of the network. */
  readonly host: string;
  readonly port: string | undefined;
  readonly shown: string;
}

export function parseRemoteAddress(name: string, address: string): RemoteAddress {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return httpAddress(name, address);
  if (scheme === 'file') return localAddress(name, decodePath(address.slice('file://'.length)));
  const isSchemeless = scheme === undefined && !address.includes('::');
  if (isSchemeless && (address.startsWith('/') || address.startsWith('./') || address.startsWith('../'))) {
    return localAddress(name, address);
  }
  // host:path is ssh for git; a bare word is a folder beside the work tree.
  if (isSchemeless && !/^[^/]*:/.test(address)) return localAddress(name, address);
  if (isSchemeless || scheme === 'ssh') return sshAddress(name, address, isSchemeless ? SSH_SHORT : SSH_URL);
  throw gitFailure(`Remote cannot be reached from here: ${name}`, {
    path: 'remote',
    reason: 'unsupported_transport',
    next: 'use an https or ssh address: git and helper transports start other programs or check nothing',
    details: { transport: scheme ?? (address.includes('::') ? 'helper' : 'ssh') },
  });
}

/**
 * What `url.<base>.insteadOf` makes of an address: the longest prefix counts, the first of several equal ones. With `push`,
 * `pushInsteadOf` comes first, as it does in git.
 */
export function rewriteAddress(
  address: string,
  { push }: { readonly push: boolean },
  configs: readonly Pick<GitConfig, 'keys' | 'all'>[],
): string {
  const pushed = push ? longestRewrite(address, 'pushinsteadof', configs) : undefined;
  return pushed ?? longestRewrite(address, 'insteadof', configs) ?? address;
}

function longestRewrite(
  address: string,
  name: 'insteadof' | 'pushinsteadof',
  configs: readonly Pick<GitConfig, 'keys' | 'all'>[],
): string | undefined {
  const rules = configs.flatMap((config) =>
    [...new Set(config.keys())]
      .filter((key) => key.startsWith('url.') && key.endsWith(`.${name}`))
      .flatMap((key) => config.all(key).map((prefix) => ({ base: key.slice(4, -(name.length + 1)), prefix }))),
  );
  const matching = rules.filter(({ prefix }) => address.startsWith(prefix));
  const [best] = matching.toSorted((a, b) => b.prefix.length - a.prefix.length);
  return best === undefined ? undefined : `${best.base}${address.slice(best.prefix.length)}`;
}

function httpAddress(name: string, address: string): RemoteAddress {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) {
    throw gitFailure(`Remote has no valid address: ${name}`, {
      path: 'remote',
      reason: 'bad_address',
      next: `correct remote.${name}.url`,
    });
  }
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return { transport: 'http', url: address, shown: bare.href };
}

const SSH_URL =
  /^ssh:\/\/(?:(?<user>[^@/:]+)@)?(?<host>[^@/:[\]]+)(?::(?<port>\d{1,5}))?\/(?<path>[^\x00-\x20\x7f]+)$/i;
const SSH_SHORT = /^(?:(?<user>[^@/:]+)@)?(?<host>[^@/:[\]]+):(?<path>[^\x00-\x20\x7f]+)$/;
/** What ssh and the remote's shell cannot read as anything but a name. */
const PLAIN_NAME = /^(?!-)[A-Za-z0-9._-]{1,253}$/;

function sshAddress(name: string, address: string, form: RegExp): RemoteAddress {
  const { user, host = '', port, path = '' } = form.exec(address)?.groups ?? {};
  const isPlain = [user ?? 'git', host].every((text) => PLAIN_NAME.test(text));
  if (!isPlain || path.startsWith('-')) {
    throw gitFailure(`Remote has no valid address: ${name}`, {
      path: 'remote',
      reason: 'bad_address',
      next: `correct remote.${name}.url: user@host:path, or ssh://user@host:port/path, without a password`,
    });
  }
  return { transport: 'ssh', url: address, user, host, port, shown: address };
}

function localAddress(name: string, path: string): RemoteAddress {
  if (path === '' || path.includes('\0')) {
    throw gitFailure(`Remote has no valid address: ${name}`, {
      path: 'remote',
      reason: 'bad_address',
      next: `correct remote.${name}.url`,
    });
  }
  return { transport: 'local', path, shown: path };
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text.replace(/^localhost(?=\/)/, ''));
  } catch {
    // A stray percent sign means itself to git.
    return text;
  }
}
