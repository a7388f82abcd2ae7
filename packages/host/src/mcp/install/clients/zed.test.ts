import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMAND, createFolders, installInto } from '../../../../test/mcp-install/try-client.ts';
import { zed } from './zed.ts';

const SAMPLE = `// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "theme": {
    "mode": "system", // or "dark"
  },
  "context_servers": {
    "postgres": { "source": "extension", "settings": {} },
  },
  "vim_mode": true
}
`;

describe('Zed', () => {
  test('writes context_servers into settings full of comments', () => {
    using folders = createFolders();
    folders.write('home/.config/zed/settings.json', SAMPLE);
    assert.equal(installInto(zed, folders), join(folders.home, '.config/zed/settings.json'));
    const entry = `    "tool-runtime": ${JSON.stringify(COMMAND, null, 2).replaceAll('\n', '\n    ')},\n`;
    const end = SAMPLE.indexOf('  },\n  "vim_mode"');
    assert.equal(folders.read('home/.config/zed/settings.json'), SAMPLE.slice(0, end) + entry + SAMPLE.slice(end));
  });

  test('has a file of the project, and others on other platforms', () => {
    using folders = createFolders();
    assert.equal(installInto(zed, folders, { scope: 'project' }), join(folders.project, '.zed/settings.json'));
    assert.deepEqual(JSON.parse(folders.read('project/.zed/settings.json')), {
      context_servers: { 'tool-runtime': COMMAND },
    });
    using mac = createFolders({ XDG_CONFIG_HOME: '/elsewhere' }, 'darwin');
    assert.equal(zed.place('global', mac)?.path, join(mac.home, '.config/zed/settings.json'));
    using windows = createFolders({ APPDATA: '/roaming' }, 'win32');
    assert.equal(zed.place('global', windows)?.path, join('/roaming/Zed/settings.json'));
  });

  test('writes no header, which would have to hold the token itself', () => {
    assert.deepEqual(zed.http('http://h/mcp'), { url: 'http://h/mcp' });
    assert.match(zed.httpNote ?? '', /by hand/);
  });
});
