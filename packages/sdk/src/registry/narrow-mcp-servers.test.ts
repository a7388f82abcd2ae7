import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Registry } from '../contracts/registry.ts';
import { defaultRegistry } from './default-registry.ts';
import { loadRegistry } from './load-registry.ts';
import { narrowRegistry } from './narrow-registry.ts';

function load(text: string): Registry {
  const known = { rules: new Map(), tools: undefined, engines: new Set<never>() };
  return loadRegistry(`version: 1\n${text}\n`, { file: 'r.yaml', ...known });
}

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

  test('are none where it names none', () => {
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

  test('of a registry nobody trusts are left out with a warning', () => {
    const found = load('mcp_servers: {fs: {command: [x], tools: ["*"]}}');
    const narrowed = narrowRegistry(defaultRegistry(), found, { overreach: 'warn' });
    assert.equal(narrowed.mcpServers.size, 0);
    assert.match(narrowed.warnings[0]?.message ?? '', /MCP server is not one of the host's: fs/);
    assert.equal(narrowed.ceiling.side_effect_level, 'workspace_write');
  });
});
