/**
 * What is honoured of the operator's own ssh files: names and keys of hosts. Pure text; nothing is started.
 *
 * Of the configuration, `Host` blocks with HostName, User, Port, IdentityFile and HostKeyAlias count. `Match` blocks and
 * included files do not: their conditions can run programs.
 */
import { createHmac } from 'node:crypto';

export interface SshHost {
  readonly hostName?: string;
  readonly user?: string;
  readonly port?: string;
  readonly hostKeyAlias?: string;
  readonly identityFiles: readonly string[];
}

const LINE = /^\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*$/;

/** As in ssh, the first value of a key counts; identity files add up. */
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
