import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CommandRequest, McpServerSettings, OpenCommandRunner } from '@tool-runtime/sdk';
import { openCommand, openHttp, secretsOf, wallOf } from './open-transport.ts';

const settings: McpServerSettings = {
  command: ['/usr/bin/server'],
  prefix: 's',
  tools: ['*'],
  env: ['KEY', 'SHORT'],
  headers_env: { 'X-Key': 'HEADER' },
  timeout_ms: 1000,
  max_output_bytes: 1024,
  side_effect_level: 'read_only',
  levels: {},
  path_args: {},
  url_args: {},
  cwd: '.',
  read_paths: [],
};

/** Whether the process may use the network. */
async function hasNetwork(more: Partial<McpServerSettings>, allowedDomains: readonly string[]): Promise<boolean> {
  const asked: CommandRequest[] = [];
  const start = async (request: CommandRequest) => {
    asked.push(request);
    return { pids: [1], done: new Promise(() => {}), stop: async () => {} };
  };
  const own = { ...settings, ...more };
  const setting = {
    server: 's',
    settings: own,
    environment: {},
    allowedDomains,
    insecureCredentials: [],
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    authorization: undefined,
    redact: (text: string) => text,
  };
  const runner = { start } as unknown as OpenCommandRunner;
  await openCommand(setting, runner, wallOf(own, 'bubblewrap')).start();
  return asked[0]?.network === true;
}

describe('the process of a mounted server', () => {
  test('may write only when one of its tools may', () => {
    assert.equal(wallOf(settings, 'bubblewrap').writable, false);
    assert.equal(wallOf({ ...settings, side_effect_level: 'workspace_write' }, 'bubblewrap').writable, true);
    assert.equal(wallOf({ ...settings, levels: { 'write_*': 'workspace_write' } }, 'bubblewrap').writable, true);
  });

  test('has the network only when one of its tools may use it and a host is allowed', async () => {
    assert.equal(await hasNetwork({ side_effect_level: 'network' }, ['example.org']), true);
    assert.equal(await hasNetwork({ side_effect_level: 'network' }, []), false);
    assert.equal(await hasNetwork({ side_effect_level: 'process_exec' }, ['example.org']), false);
    assert.equal(await hasNetwork({ levels: { fetch: 'network' } }, ['example.org']), true);
  });

  test('is the program that was named, when its path was', () => {
    const wall = wallOf(settings, 'bubblewrap');
    assert.deepEqual([wall.exactProgram, wall.programFolders], ['/usr/bin/server', ['/usr/bin']]);
    assert.equal(wallOf({ ...settings, command: ['server'] }, 'bubblewrap').exactProgram, undefined);
  });

  test('runs in the default sandbox, unless its entry names another', () => {
    assert.equal(wallOf(settings, 'bubblewrap').isolation, 'bubblewrap');
    assert.equal(wallOf({ ...settings, isolation: 'none' }, 'bubblewrap').isolation, 'none');
  });
});

test('a server whose credential is not set is not opened, and one whose credential is set is', () => {
  const client_credentials = {
    issuer: 'https://a.example',
    client_id: 'c',
    secret_env: 'SECRET',
    alg: 'ES256',
    dpop: false,
  };
  const { command: _, ...rest } = settings;
  const open = (environment: Readonly<Record<string, string>>) =>
    openHttp({
      server: 's',
      settings: { ...rest, url: 'https://a.example/mcp', headers_env: {}, client_credentials },
      environment,
      allowedDomains: [],
      insecureCredentials: [],
      log: { debug: () => {}, info: () => {}, warn: () => {} },
      authorization: undefined,
      redact: (text) => text,
    });
  assert.throws(() => open({}), /credential of an MCP server is not set: SECRET/);
  assert.throws(() => open({ SECRET: '' }), /not set: SECRET/);
  assert.ok(open({ SECRET: 'x' }));
});

test('values that are given to a server count as secrets, unless they are too short to be any', () => {
  const environment = { KEY: 'swordfish-11', SHORT: 'on', HEADER: 'header-value', OTHER: 'not handed on' };
  assert.deepEqual(secretsOf(settings, environment), ['swordfish-11', 'header-value']);
  const client_credentials = {
    issuer: 'https://a.example',
    client_id: 'c',
    secret_env: 'OTHER',
    alg: 'ES256',
    dpop: false,
  };
  assert.ok(secretsOf({ ...settings, client_credentials }, environment).includes('not handed on'));
});
