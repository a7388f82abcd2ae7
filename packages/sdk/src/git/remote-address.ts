/**
 * Addresses of remotes, and what ssh's own files say about hosts. Pure text: nothing here touches the network or a
 * file.
 */

import { createHmac } from 'node:crypto';
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

export interface SshHost {
  readonly hostName?: string;
  readonly user?: string;
  readonly port?: string;
  readonly hostKeyAlias?: string;
  readonly identityFiles: readonly string[];
}

const LINE = /^\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*$/;

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
 * What `url.<base>.insteadOf` makes of an address: the longest prefix counts, the first of several equal ones. With
 * `push`, `pushInsteadOf` comes first, as it does in git.
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
/** Text that ssh and the remote's shell can only read as a name. */
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

/**
 * Reads names and keys of hosts from the operator's ssh files.
 *
 * Of the configuration, `Host` blocks with HostName, User, Port, IdentityFile and HostKeyAlias count. `Match` blocks
 * and included files do not: their conditions can run programs.
 *
 * As in ssh, the first value of a key counts; identity files add up.
 */
export function readSshConfig(text: string, host: string): SshHost {
  const found = new Map<string, string>();
  const identityFiles: string[] = [];
  let applies = true;
  for (const line of text.split('\n')) {
    const [, written = '', value = ''] = LINE.exec(line) ?? [];
    const key = written.toLowerCase();
    if (key === 'host') applies = matchesPatterns(value.split(/\s+/), host);
    else if (key === 'match') applies = false;
    else if (!applies || key === '') continue;
    else if (key === 'identityfile') identityFiles.push(unquoted(value));
    else if (!found.has(key)) found.set(key, unquoted(value));
  }
  const named = { hostName: 'hostname', user: 'user', port: 'port', hostKeyAlias: 'hostkeyalias' };
  const values = Object.entries(named).flatMap(([name, key]) => (found.has(key) ? [[name, found.get(key)]] : []));
  return { ...Object.fromEntries(values), identityFiles };
}

function unquoted(value: string): string {
  return /^"(.*)"$/.exec(value)?.[1] ?? value;
}

/** Lines of a known_hosts file about one host: `name`, or `[name]:port` where the port is not 22. */
export function knownHostLines(
  text: string,
  { name, port }: { readonly name: string; readonly port: string },
): string[] {
  const wanted = (port === '22' ? name : `[${name}]:${port}`).toLowerCase();
  return text.split('\n').filter((line) => {
    const fields = line.trim().split(/\s+/);
    if (fields[0] === undefined || fields[0] === '' || fields[0].startsWith('#')) return false;
    const hosts = fields[0].startsWith('@') ? fields[1] : fields[0];
    return hosts !== undefined && matchesHosts(hosts, wanted);
  });
}

function matchesHosts(hosts: string, wanted: string): boolean {
  const [, salt, digest] = /^\|1\|([A-Za-z0-9+/=]+)\|([A-Za-z0-9+/=]+)$/.exec(hosts) ?? [];
  if (salt === undefined) return matchesPatterns(hosts.toLowerCase().split(','), wanted);
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(wanted).digest('base64') === digest;
}

/** `*` and `?`; one negated pattern that matches rules the host out. */
function matchesPatterns(patterns: readonly string[], host: string): boolean {
  const matches = (pattern: string): boolean => {
    const source = pattern
      .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return new RegExp(`^${source}$`, 'i').test(host);
  };
  if (patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern));
}

/** The keys of known_hosts lines, as the protocol spells them; revoked ones and those of authorities are left out. */
export function hostKeys(lines: readonly string[]): readonly Buffer[] {
  return lines.flatMap((line) => {
    const [, , key] = line.trim().split(/\s+/);
    return line.trim().startsWith('@') || key === undefined ? [] : [Buffer.from(key, 'base64')];
  });
}
