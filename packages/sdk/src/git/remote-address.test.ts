import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { parseRemoteAddress, rewriteAddress } from './remote-address.ts';

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
