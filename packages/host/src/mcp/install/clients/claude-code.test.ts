import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMAND, createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { claudeCode } from './claude-code.ts';

describe('Claude Code', () => {
  test('writes .mcp.json of the project where there is none', () => {
    using folders = createFolders();
    assert.equal(installInto(claudeCode, folders), join(folders.project, '.mcp.json'));
    const entry = { type: 'stdio', command: COMMAND.command, args: COMMAND.args };
    assert.deepEqual(JSON.parse(folders.read('project/.mcp.json')), { mcpServers: { 'tool-runtime': entry } });
    assert.equal(existsSync(join(folders.project, '.mcp.json.bak')), false);
  });

  test('keeps other servers, and a second install changes nothing', () => {
    using folders = createFolders();
    const before =
      '{\n  "mcpServers": {\n    "github": {\n      "type": "http",\n      "url": "https://x"\n    }\n  }\n}\n';
    folders.write('project/.mcp.json', before);
    installInto(claudeCode, folders);
    const after = folders.read('project/.mcp.json');
    assert.ok(after.startsWith(before.slice(0, before.indexOf('    }\n')).trimEnd()));
    assert.deepEqual(Object.keys(JSON.parse(after).mcpServers), ['github', 'tool-runtime']);
    assert.equal(folders.read('project/.mcp.json.bak'), before);
    installInto(claudeCode, folders);
    assert.equal(folders.read('project/.mcp.json'), after);
  });

  test('names the variable of the token and never a token', () => {
    using folders = createFolders();
    installInto(claudeCode, folders, { http: 'http://127.0.0.1:7411/mcp' });
    assert.deepEqual(JSON.parse(folders.read('project/.mcp.json')).mcpServers['tool-runtime'], {
      type: 'http',
      url: 'http://127.0.0.1:7411/mcp',
      headers: { Authorization: `Bearer \${TOOL_RUNTIME_TOKEN}` },
    });
  });

  test('leaves the file of all projects to its own command', () => {
    using folders = createFolders();
    assert.equal(claudeCode.place('global', folders), undefined);
    assert.equal(
      claudeCode.instead?.({ command: '/n', args: ["it's", '--workspace', '/a b'] }, 'x'),
      `claude mcp add --scope user x -- /n 'it'\\''s' --workspace '/a b'`,
    );
  });
});
