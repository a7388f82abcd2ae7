import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServerSettings } from '@tool-runtime/sdk';
import { foreignTool, isListed } from './foreign-tool.ts';
import type { Upstream } from './upstream.ts';

const settings: McpServerSettings = {
  url: 'https://example.org/mcp',
  prefix: 's',
  tools: ['read_*', 'write'],
  env: [],
  headers_env: {},
  timeout_ms: 1000,
  max_output_bytes: 1024,
  side_effect_level: 'network',
  levels: {},
  path_args: {},
  url_args: {},
  cwd: '.',
  read_paths: [],
};

test('arguments that do not fit the approved schema are refused before the server hears of them', () => {
  const inputSchema = {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  };
  const { args } = foreignTool({
    name: 's_work',
    server: 's',
    settings,
    definition: { name: 'work', inputSchema },
    upstream: {} as Upstream,
    quarantine: () => undefined,
  });
  assert.equal(args.safeParse({ word: 'it' }).success, true);
  for (const other of [{}, { word: 1 }, { word: 'it', more: 1 }]) assert.equal(args.safeParse(other).success, false);
});

test('a tool is listed by its name or by a glob, and not otherwise', () => {
  for (const name of ['read_file', 'write']) assert.equal(isListed(settings, name), true, name);
  for (const name of ['write_all', 'read', 'delete', '*']) assert.equal(isListed(settings, name), false, name);
  assert.equal(isListed({ ...settings, tools: ['*'] }, 'delete'), true);
});
