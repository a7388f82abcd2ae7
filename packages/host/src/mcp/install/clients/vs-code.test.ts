import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMAND, createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { vsCode } from './vs-code.ts';

const SAMPLE = `\uFEFF{
\t// asked once
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "password": true },
\t],
\t"servers": {
\t\t"playwright": {
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "@playwright/mcp@latest"],
\t\t},
\t},
}
`;

describe('VS Code', () => {
  test('writes .vscode/mcp.json with the key servers', () => {
    using folders = createFolders();
    assert.equal(installInto(vsCode, folders), join(folders.project, '.vscode', 'mcp.json'));
    assert.deepEqual(JSON.parse(folders.read('project/.vscode/mcp.json')), {
      servers: { 'tool-runtime': { type: 'stdio', ...COMMAND } },
    });
  });

  test('keeps comments, tabs, trailing commas, byte order mark and carriage returns', () => {
    for (const eol of ['\n', '\r\n']) {
      using folders = createFolders();
      const sample = SAMPLE.replaceAll('\n', eol);
      folders.write('project/.vscode/mcp.json', sample);
      installInto(vsCode, folders, { http: 'https://h/mcp' });
      const entry = `\t\t"tool-runtime": {
\t\t\t"type": "http",
\t\t\t"url": "https://h/mcp",
\t\t\t"headers": {
\t\t\t\t"Authorization": "Bearer \${env:TOOL_RUNTIME_TOKEN}"
\t\t\t}
\t\t},
`.replaceAll('\n', eol);
      const end = sample.lastIndexOf(`\t},${eol}}`);
      assert.equal(folders.read('project/.vscode/mcp.json'), sample.slice(0, end) + entry + sample.slice(end));
    }
  });

  test('has a file of the user, elsewhere on each platform', () => {
    using linux = createFolders({ XDG_CONFIG_HOME: '/conf' });
    assert.equal(vsCode.place('global', linux)?.path, join('/conf', 'Code', 'User', 'mcp.json'));
    using mac = createFolders({}, 'darwin');
    assert.match(vsCode.place('global', mac)?.path ?? '', /home\/Library\/Application Support\/Code\/User\/mcp\.json$/);
    using windows = createFolders({ APPDATA: '/roaming' }, 'win32');
    assert.equal(vsCode.place('global', windows)?.path, join('/roaming', 'Code', 'User', 'mcp.json'));
  });
});
