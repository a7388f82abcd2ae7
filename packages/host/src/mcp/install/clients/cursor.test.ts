import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMAND, createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { cursor } from './cursor.ts';

describe('Cursor', () => {
  test('writes .cursor/mcp.json of the project, or of the user', () => {
    using folders = createFolders();
    assert.equal(installInto(cursor, folders), join(folders.project, '.cursor', 'mcp.json'));
    assert.equal(installInto(cursor, folders, { scope: 'global' }), join(folders.home, '.cursor', 'mcp.json'));
    for (const folder of ['project', 'home']) {
      assert.deepEqual(JSON.parse(folders.read(`${folder}/.cursor/mcp.json`)), {
        mcpServers: { 'tool-runtime': { type: 'stdio', ...COMMAND } },
      });
    }
  });

  test('exchanges an older entry, and keeps an empty file a file', () => {
    using folders = createFolders();
    folders.write(
      'project/.cursor/mcp.json',
      '{"mcpServers": {"tool-runtime": {"url": "http://old"}, "b": {"url": "c"}}}',
    );
    installInto(cursor, folders, { http: 'http://new' });
    const { mcpServers } = JSON.parse(folders.read('project/.cursor/mcp.json'));
    assert.deepEqual(mcpServers, {
      'tool-runtime': { url: 'http://new', headers: { Authorization: `Bearer \${env:TOOL_RUNTIME_TOKEN}` } },
      b: { url: 'c' },
    });
    folders.write('home/.cursor/mcp.json', '');
    installInto(cursor, folders, { scope: 'global' });
    assert.deepEqual(Object.keys(JSON.parse(folders.read('home/.cursor/mcp.json'))), ['mcpServers']);
  });
});
