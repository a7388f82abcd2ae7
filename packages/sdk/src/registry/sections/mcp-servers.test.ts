import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Registry } from '../../contracts/registry.ts';
import { defaultRegistry } from '../build-registry.ts';
import { loadRegistry } from '../load-registry.ts';
import { narrowRegistry } from '../narrow-registry.ts';

function load(text: string): Registry {
  const known = { rules: new Map(), tools: new Set(['file_read']), engines: new Set<never>() };
  return loadRegistry(`version: 1\n${text}\n`, { file: 'r.yaml', ...known });
}

describe('mcp_servers', () => {
  test('has defaults that allow nothing by themselves', () => {
    const registry = load('mcp_servers: {fs: {command: [mcp-fs, .], tools: []}}');
    assert.deepEqual(registry.mcpServers.get('fs'), {
      command: ['mcp-fs', '.'],
      prefix: 'fs',
      tools: [],
      env: [],
      headers_env: {},
      timeout_ms: 60_000,
      max_output_bytes: 262_144,
      side_effect_level: 'network',
      levels: {},
      path_args: {},
      url_args: {},
      cwd: '.',
      read_paths: [],
    });
    assert.throws(() => load('mcp_servers: {fs: {command: [mcp-fs]}}'), /tools/);
  });

  test('takes a sign-in that names its issuer and one credential', () => {
    const own = '{issuer: "https://login.example", client_id: ours, secret_env: SECRET, scope: read}';
    const registry = load(`mcp_servers: {up: {url: "https://a.example", tools: [], client_credentials: ${own}}}`);
    assert.deepEqual(registry.mcpServers.get('up')?.client_credentials, {
      issuer: 'https://login.example',
      client_id: 'ours',
      secret_env: 'SECRET',
      scope: 'read',
      alg: 'ES256',
      dpop: false,
    });
  });

  test('raises the default ceiling to what its tools need, and no further', () => {
    const level = (text: string) => load(text).ceiling.side_effect_level;
    assert.equal(level('mcp_servers: {fs: {command: [x], tools: []}}'), 'network');
    assert.equal(
      level('mcp_servers: {fs: {command: [x], tools: [], side_effect_level: read_only}}'),
      'workspace_write',
    );
    const levels = '{command: [x], tools: [], side_effect_level: read_only, levels: {run: process_exec}}';
    assert.equal(level(`mcp_servers: {fs: ${levels}}`), 'process_exec');
  });

  test('leaves the fingerprint alone when it is empty', () => {
    assert.equal(load('mcp_servers: {}').fingerprint, defaultRegistry().fingerprint);
    assert.notEqual(
      load('mcp_servers: {a: {url: "https://a.example", tools: []}}').fingerprint,
      defaultRegistry().fingerprint,
    );
  });

  test('makes the names of its tools known to the switches of tools', () => {
    const mounted = 'mcp_servers: {files: {command: [x], tools: [], prefix: fs}}';
    assert.equal(load(`${mounted}\ntools: {fs_read: {enabled: false}}`).tools.get('fs_read')?.enabled, false);
    assert.throws(() => load(`${mounted}\ntools: {files_read: {enabled: false}}`), /Unknown tool: files_read/);
  });

  for (const [what, server, problem] of [
    [
      'a sign-in without a credential',
      '{url: "https://a.example", tools: [], client_credentials: {issuer: "https://a.example", client_id: c}}',
      /secret_env or private_key_env/,
    ],
    [
      'two credentials',
      '{url: "https://a.example", tools: [], client_credentials: {issuer: "https://a.example", client_id: c, secret_env: A, private_key_env: B}}',
      /secret_env or private_key_env/,
    ],
    [
      'a sign-in of a command',
      '{command: [x], tools: [], client_credentials: {issuer: "https://a.example", client_id: c, secret_env: A}}',
      /Only a server with a url/,
    ],
    ['both a command and a url', '{command: [x], url: "https://a.example", tools: []}', /both a command and a url/],
    ['a long prefix', '{command: [x], tools: [], prefix: abcdefghijklm}', /Not a prefix/],
    ['another scheme', '{url: "file:///etc/passwd", tools: []}', /Not an http or https URL/],
    ['credentials in the url', '{url: "https://me:secret@a.example", tools: []}', /holds credentials/],
    ['a value instead of a name', '{command: [x], tools: [], env: ["TOKEN=1"]}', /Not the name of a variable/],
    ['a relative path to read', '{command: [x], tools: [], read_paths: [lib]}', /Not an absolute path/],
    ['an unknown key', '{command: [x], tools: [], trust: true}', /trust/],
  ] as const) {
    test(`refuses ${what}`, () => assert.throws(() => load(`mcp_servers: {a: ${server}}`), problem));
  }

  test('refuses a long name that has no prefix', () => {
    assert.throws(
      () => load('mcp_servers: {a-very-long-name: {command: [x], tools: []}}'),
      /cannot be used as a prefix/,
    );
    assert.ok(load('mcp_servers: {a-very-long-name: {command: [x], tools: [], prefix: a}}').mcpServers.size);
  });
});

const HOST =
  'mcp_servers: {fs: {command: [x], tools: ["read_*", write]}, web: {url: "https://a.example", tools: ["*"]}}';

function narrow(session: string): Registry {
  return narrowRegistry(load(HOST), load(session), { overreach: 'error' });
}

describe('mounted servers of a narrower registry', () => {
  test('are those it names, with the tools it keeps', () => {
    const { mcpServers } = narrow('mcp_servers: {fs: {tools: [read_a, write]}}');
    assert.deepEqual([...mcpServers.keys()], ['fs']);
    assert.deepEqual(mcpServers.get('fs')?.tools, ['read_a', 'write']);
    assert.deepEqual(mcpServers.get('fs')?.command, ['x']);
    assert.deepEqual(narrow('mcp_servers: {web: {tools: [a/b]}}').mcpServers.get('web')?.tools, ['a/b']);
  });

  test('are otherwise as the host wrote them', () => {
    const { mcpServers } = narrow('mcp_servers: {fs: {tools: [write], side_effect_level: none}}');
    assert.deepEqual(mcpServers.get('fs'), { ...load(HOST).mcpServers.get('fs'), tools: ['write'] });
  });

  test('are empty where none are named', () => {
    assert.equal(narrow('').mcpServers.size, 0);
  });

  test('may repeat the entry of the host word for word, and nothing else', () => {
    assert.equal(narrow('mcp_servers: {fs: {command: [x], tools: [write]}}').mcpServers.size, 1);
    assert.throws(() => narrow('mcp_servers: {fs: {command: [y], tools: [write]}}'), /not one of the host's: fs/);
    assert.throws(
      () => narrow('mcp_servers: {fs: {command: [x], tools: [write], side_effect_level: none}}'),
      /not one of the host's: fs/,
    );
  });

  test('cannot be others, or have other tools', () => {
    assert.throws(() => narrow('mcp_servers: {other: {tools: [a]}}'), /not one of the host's: other/);
    assert.throws(() => narrow('mcp_servers: {fs: {tools: [delete]}}'), /not offered by the host: delete/);
  });

  test('of an untrusted registry are left out with a warning', () => {
    const found = load('mcp_servers: {fs: {command: [x], tools: ["*"]}}');
    const narrowed = narrowRegistry(defaultRegistry(), found, { overreach: 'warn' });
    assert.equal(narrowed.mcpServers.size, 0);
    assert.match(narrowed.warnings[0]?.message ?? '', /MCP server is not one of the host's: fs/);
    assert.equal(narrowed.ceiling.side_effect_level, 'workspace_write');
  });
});
