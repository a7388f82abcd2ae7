import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { codex } from './codex.ts';

const TABLE = `[mcp_servers.tool-runtime]
command = "/usr/bin/node"
args = ["/opt/tool-runtime.js", "mcp", "--workspace", "/w"]
`;

const SAMPLE = `# Codex
model = "gpt-5" # the usual
notify = ["python3", "/srv/me/notify.py"]

[projects."/srv/me/a.b"]
trust_level = "trusted"

[mcp_servers.docs]
command = "npx"
args = [
  "-y", # yes
  "docs-mcp",
]
env = { "API_KEY" = "value" }

[mcp_servers.docs.tools.search]
approval_mode = "approve"
`;

describe('Codex', () => {
  test('writes ~/.codex/config.toml where there is none', () => {
    using folders = createFolders();
    assert.equal(installInto(codex, folders), join(folders.home, '.codex', 'config.toml'));
    assert.equal(folders.read('home/.codex/config.toml'), TABLE);
  });

  test('adds a table and leaves every byte before it', () => {
    using folders = createFolders();
    folders.write('home/.codex/config.toml', SAMPLE);
    installInto(codex, folders);
    assert.equal(folders.read('home/.codex/config.toml'), `${SAMPLE}\n${TABLE}`);
    assert.equal(folders.read('home/.codex/config.toml.bak'), SAMPLE);
  });

  test('exchanges an older entry where it stands, with carriage returns', () => {
    using folders = createFolders();
    const sample = SAMPLE.replaceAll('\n', '\r\n');
    const old = '[mcp_servers.tool-runtime]\r\ncommand = "old"\r\n[mcp_servers.tool-runtime.env]\r\nA = "b"\r\n';
    folders.write('home/.codex/config.toml', `${sample}${old}[z]\r\n`);
    installInto(codex, folders);
    assert.equal(folders.read('home/.codex/config.toml'), `${sample}${TABLE.replaceAll('\n', '\r\n')}[z]\r\n`);
  });

  test('has a file of the project, and one where CODEX_HOME says', () => {
    using folders = createFolders();
    assert.equal(installInto(codex, folders, { scope: 'project' }), join(folders.project, '.codex', 'config.toml'));
    const moved = { ...folders, env: { CODEX_HOME: join(folders.home, 'moved') } };
    assert.equal(installInto(codex, moved, { http: 'http://h/mcp' }), join(folders.home, 'moved', 'config.toml'));
    assert.equal(
      folders.read('home/moved/config.toml'),
      '[mcp_servers.tool-runtime]\nurl = "http://h/mcp"\nbearer_token_env_var = "TOOL_RUNTIME_TOKEN"\n',
    );
  });
});
