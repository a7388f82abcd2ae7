import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { McpServerSettings } from '@tool-runtime/sdk';
import { foreignProfile } from './foreign-profile.ts';

const settings: McpServerSettings = {
  url: 'https://example.org/mcp',
  prefix: 's',
  tools: ['*'],
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

const definition = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('what a foreign tool counts as', () => {
  test('is the most invasive unless the operator says otherwise', () => {
    const hinted = definition('read', { annotations: { readOnlyHint: true, openWorldHint: false } });
    assert.equal(foreignProfile(hinted, settings).level, 'network');
    assert.equal(foreignProfile(hinted, { ...settings, side_effect_level: 'read_only' }).level, 'read_only');
  });

  test('follows an exact name before globs, and of globs the most invasive', () => {
    const levels = { '*': 'workspace_write', 'read_*': 'read_only', read_file: 'read_only' } as const;
    assert.equal(foreignProfile(definition('read_file'), { ...settings, levels }).level, 'read_only');
    assert.equal(foreignProfile(definition('read_all'), { ...settings, levels }).level, 'workspace_write');
  });

  test('is never less than a writer when it says that it destroys', () => {
    const destroys = definition('drop', { annotations: { destructiveHint: true } });
    const { kind, level } = foreignProfile(destroys, { ...settings, side_effect_level: 'read_only' });
    assert.deepEqual([kind, level], ['delete', 'workspace_write']);
    assert.equal(foreignProfile(destroys, { ...settings, side_effect_level: 'process_exec' }).level, 'process_exec');
  });

  test('declares paths and URLs by format and by the names the operator lists', () => {
    const properties = {
      where: { type: 'string', format: 'path' },
      from: { type: 'array', items: { type: 'string', format: 'uri' } },
      plain: { type: 'string' },
      target: { type: 'string' },
    };
    const tool = definition('copy', { inputSchema: { type: 'object', properties } });
    const profile = foreignProfile(tool, { ...settings, path_args: { 'cop*': ['target'], other: ['plain'] } });
    assert.deepEqual([profile.pathArgs, profile.urlArgs], [['target', 'where'], ['from']]);
  });
});
