import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { hostKeys, knownHostLines, parseRemoteAddress, readSshConfig, rewriteAddress } from './remote-address.ts';

test('addresses are told apart by how git would reach them [S0-51]', () => {
  const cases: [string, string, string][] = [
    ['https://example.org/x.git', 'http', 'https://example.org/x.git'],
    ['https://user:secret@example.org/x.git', 'http', 'https://example.org/x.git'],
    ['git@example.org:x', 'ssh', 'git@example.org:x'],
    ['host:x/y.git', 'ssh', 'host:x/y.git'],
    ['ssh://git@example.org:2222/x.git', 'ssh', 'ssh://git@example.org:2222/x.git'],
    ['/srv/x.git', 'local', '/srv/x.git'],
    ['../x.git', 'local', '../x.git'],
    ['x.git', 'local', 'x.git'],
    ['file:///srv/a%20b.git', 'local', '/srv/a b.git'],
    ['file://localhost/srv/x.git', 'local', '/srv/x.git'],
  ];
  for (const [address, transport, shown] of cases) {
    const parsed = parseRemoteAddress('origin', address);
    assert.deepEqual([parsed.transport, parsed.shown], [transport, shown], address);
  }
});

test('what would start another program is refused with the transport named [S0-51]', () => {
  for (const address of ['git://x/y', 'ext::sh -c x', 'fd::17', 'gopher://x']) {
    assert.throws(
      () => parseRemoteAddress('origin', address),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'unsupported_transport',
      address,
    );
  }
});

test('an ssh address is user, host, port and path in plain letters, and nothing that reads as an option [S0-51]', () => {
  const parsed = parseRemoteAddress('origin', 'ssh://me@example.org:2222/a/b.git');
  assert.deepEqual(parsed.transport === 'ssh' && [parsed.user, parsed.host, parsed.port], [
    'me',
    'example.org',
    '2222',
  ]);
  for (const address of [
    'ssh://-oProxyCommand=touch x/y',
    '-oProxyCommand=x:y',
    'ssh://git@-host/y',
    '-x@host:y',
    'ssh://me:secret@host/y',
    'ssh://host',
    'host:-x',
    'ssh://host/-x',
    'ho st:x',
    'host:x\ny',
    'ho$(touch x)st:y',
  ]) {
    assert.throws(
      () => parseRemoteAddress('origin', address),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'bad_address',
      address,
    );
  }
});

test('rewrites follow git: the longest prefix, of equal ones the first, pushInsteadOf before insteadOf [S0-51]', () => {
  const config = (entries: Readonly<Record<string, readonly string[]>>) => ({
    keys: () => Object.keys(entries),
    all: (key: string) => entries[key] ?? [],
  });
  const operator = config({ 'url.git@example.org:.insteadof': ['https://example.org/'] });
  const own = config({
    'url.ssh://long/.insteadof': ['https://example.org/team/'],
    'url.second:.insteadof': ['https://example.org/'],
    'url.pushed:.pushinsteadof': ['https://example.org/'],
  });
  const rewrite = (address: string, push = false) => rewriteAddress(address, { push }, [operator, own]);
  assert.equal(rewrite('https://example.org/x'), 'git@example.org:x');
  assert.equal(rewrite('https://example.org/team/x'), 'ssh://long/x');
  assert.equal(rewrite('https://example.org/x', true), 'pushed:x');
  assert.equal(rewrite('https://other.org/x', true), 'https://other.org/x');
});

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFeoPYBwIE5Bzu1dsxd7RyRGFHRNBzCzRJU2bOhTbzPZ';

test('of an ssh configuration the first value of a plain Host block counts, and Match blocks never [S0-51]', () => {
  const text = [
    'User first',
    'Host work !work-old *.example.org',
    '  HostName = git.example.org',
    '  User me',
    '  Port 2222',
    '  IdentityFile "~/.ssh/a b"',
    '  ProxyCommand touch canary',
    'Match exec "touch canary"',
    '  HostName evil.example.org',
    'Host *',
    '  IdentityFile ~/.ssh/c',
    '  Port 22',
  ].join('\n');
  assert.deepEqual(readSshConfig(text, 'work'), {
    hostName: 'git.example.org',
    user: 'first',
    port: '2222',
    identityFiles: ['~/.ssh/a b', '~/.ssh/c'],
  });
  assert.deepEqual(readSshConfig(text, 'work-old'), { user: 'first', port: '22', identityFiles: ['~/.ssh/c'] });
});

test('of known hosts only the lines about one host are taken, hashed ones too, as ssh-keygen -F finds them [S0-51]', () => {
  const folder = mkdtempSync(join(tmpdir(), 'known-hosts-'));
  try {
    const file = join(folder, 'known_hosts');
    writeFileSync(file, `host.test ${KEY}\n[host.test]:2222 ${KEY}\nother.test ${KEY}\n`);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
    const text = `${readFileSync(file, 'utf8')}*.wild.test,!no.wild.test ${KEY}\n@revoked host.test ${KEY}\n# host.test\n`;
    const count = (name: string, port = '22') => knownHostLines(text, { name, port }).length;
    assert.deepEqual([count('host.test'), count('host.test', '2222'), count('HOST.test')], [2, 1, 2]);
    assert.deepEqual([count('a.wild.test'), count('no.wild.test'), count('host')], [1, 0, 0]);
    assert.equal(hostKeys(knownHostLines(text, { name: 'host.test', port: '22' })).length, 1, 'a revoked key is none');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
