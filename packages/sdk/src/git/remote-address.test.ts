import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { parseRemoteAddress } from './remote-address.ts';

test('addresses are told apart by how git would reach them [S0-51]', () => {
  const cases: [string, string, string][] = [
    ['https://example.org/x.git', 'http', 'https://example.org/x.git'],
    ['https://user:secret@example.org/x.git', 'http', 'https://example.org/x.git'],
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
  for (const address of [
    'git@example.org:x',
    'host:x',
    'ssh://x/y',
    'git://x/y',
    'ext::sh -c x',
    'fd::17',
    'gopher://x',
  ]) {
    assert.throws(
      () => parseRemoteAddress('origin', address),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'unsupported_transport',
      address,
    );
  }
});
