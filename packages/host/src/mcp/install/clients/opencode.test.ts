import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { opencode } from './opencode.ts';

describe('opencode', () => {
  test('writes program and arguments as one list', () => {
    using folders = createFolders();
    assert.equal(installInto(opencode, folders), join(folders.project, 'opencode.json'));
    assert.deepEqual(JSON.parse(folders.read('project/opencode.json')).mcp['tool-runtime'], {
      type: 'local',
      command: ['/usr/bin/node', '/opt/tool-runtime.js', 'mcp', '--workspace', '/w'],
      enabled: true,
    });
  });

  test('takes opencode.jsonc when that is there, and keeps its comments', () => {
    using folders = createFolders();
    const sample = '{\n  "$schema": "https://opencode.ai/config.json",\n  // mine\n  "model": "a/b", // "mcp": {}\n}\n';
    folders.write('project/opencode.jsonc', sample);
    assert.equal(installInto(opencode, folders, { http: 'http://h/mcp' }), join(folders.project, 'opencode.jsonc'));
    const after = folders.read('project/opencode.jsonc');
    assert.ok(after.startsWith(sample.slice(0, -3)));
    assert.match(after, /"mcp": \{\n {4}"tool-runtime": \{\n {6}"type": "remote",\n {6}"url": "http:\/\/h\/mcp",\n/);
    assert.match(after, /"Authorization": "Bearer \{env:TOOL_RUNTIME_TOKEN\}"/);
    folders.write('project/opencode.json', '{}');
    assert.equal(installInto(opencode, folders), join(folders.project, 'opencode.json'));
  });

  test('has a file of the user below the configuration folder', () => {
    using folders = createFolders();
    assert.equal(
      installInto(opencode, folders, { scope: 'global' }),
      join(folders.home, '.config/opencode/opencode.json'),
    );
  });
});
