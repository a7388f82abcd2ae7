import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMAND, createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { geminiCli } from './gemini-cli.ts';

describe('Gemini CLI', () => {
  test('writes the settings of the user, or of the project', () => {
    using folders = createFolders();
    assert.equal(installInto(geminiCli, folders), join(folders.home, '.gemini', 'settings.json'));
    assert.deepEqual(JSON.parse(folders.read('home/.gemini/settings.json')).mcpServers['tool-runtime'], COMMAND);
    const project = installInto(geminiCli, folders, { scope: 'project', http: 'http://h/mcp' });
    assert.equal(project, join(folders.project, '.gemini', 'settings.json'));
    assert.deepEqual(JSON.parse(folders.read('project/.gemini/settings.json')).mcpServers['tool-runtime'], {
      httpUrl: 'http://h/mcp',
      headers: { Authorization: 'Bearer $TOOL_RUNTIME_TOKEN' },
    });
  });

  test('keeps comments and what else is set', () => {
    using folders = createFolders();
    folders.write(
      'home/.gemini/settings.json',
      '{\n  // looks\n  "ui": { "theme": "Default" },\n  "mcpServers": {}, // none yet\n  "security": { "auth": 1 } /* x */\n}\n',
    );
    installInto(geminiCli, folders);
    assert.equal(
      folders.read('home/.gemini/settings.json'),
      `{
  // looks
  "ui": { "theme": "Default" },
  "mcpServers": {
    "tool-runtime": {
      "command": "/usr/bin/node",
      "args": [
        "/opt/tool-runtime.js",
        "mcp",
        "--workspace",
        "/w"
      ]
    }
  }, // none yet
  "security": { "auth": 1 } /* x */
}
`,
    );
  });
});
