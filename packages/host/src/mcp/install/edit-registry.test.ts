import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withMcpServer, withoutMcpServer } from './edit-registry.ts';

const SERVER = { command: ['npx', '-y', 'server'], tools: ['*'] };

describe('foreign servers in a registry', () => {
  test('come behind everything else, which keeps its bytes', () => {
    const before = "# mine\nversion:   1   # one\nshell_allow: ['^ls$',   '^pwd$']\n";
    const block =
      'mcp_servers:\n  fs:\n    command:\n      - npx\n      - -y\n      - server\n    tools:\n      - "*"\n';
    assert.equal(withMcpServer(before, 'fs', SERVER), `${before}\n${block}`);
    assert.equal(withMcpServer('version: 1', 'fs', SERVER), `version: 1\n\n${block}`);
    assert.equal(withMcpServer('version: 1\r\n', 'fs', SERVER), `version: 1\n\n${block}`.replaceAll('\n', '\r\n'));
  });

  test('join others in the section, and comments stay', () => {
    const before = `version: 1
# servers
mcp_servers:
  # first
  one: # here
    url: https://x
    tools: [a, b] # two of them
# the end
limits:
  max_in_flight: 4
`;
    const after = withMcpServer(before, 'fs', { url: 'https://y', tools: [] });
    assert.equal(
      after,
      `version: 1
# servers
mcp_servers:
  # first
  one: # here
    url: https://x
    tools: [a, b] # two of them
  fs:
    url: https://y
    tools: []
# the end
limits:
  max_in_flight: 4
`,
    );
    assert.equal(withoutMcpServer(after, 'fs'), before.replace('one: # here\n', 'one:\n    # here\n'));
    assert.equal(withoutMcpServer(after, 'none'), undefined);
  });

  test('replace one of the same name', () => {
    const before = withMcpServer('version: 1\n', 'fs', SERVER);
    assert.match(
      withMcpServer(before, 'fs', { url: 'https://y', tools: [] }),
      /fs:\n {4}url: https:\/\/y\n {4}tools: \[\]\n$/,
    );
  });

  test('take the section along when the last one goes', () => {
    assert.equal(withoutMcpServer(withMcpServer('version: 1\n', 'fs', SERVER), 'fs'), 'version: 1\n');
    assert.equal(withoutMcpServer('mcp_servers: {fs: {url: x, tools: []}}\n', 'fs'), 'version: 1\n');
  });

  test('find their place in flow style, under an empty key and behind an end mark', () => {
    for (const before of ['{version: 1}\n', 'version: 1\nmcp_servers:\n', 'version: 1\n...\n', 'mcp_servers: {}\n']) {
      const after = withMcpServer(before, 'fs', SERVER);
      assert.match(after, /fs:/);
      assert.notEqual(withoutMcpServer(after, 'fs'), undefined, before);
    }
  });

  test('are not put into what does not parse, or is no map', () => {
    assert.throws(() => withMcpServer('a: [', 'fs', SERVER), /Registry is not understood/);
    assert.throws(() => withMcpServer('- a\n', 'fs', SERVER), /Registry holds no map/);
    assert.throws(() => withMcpServer('a: 1\n---\nb: 2\n', 'fs', SERVER), /Registry is not understood/);
  });
});
