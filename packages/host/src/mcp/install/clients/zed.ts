/** Zed: `context_servers` in its settings. Headers there are plain text, so the token is left to the user. */
import { join } from 'node:path';
import { defineClient } from '../client.ts';
import { appConfig, xdgConfig } from '../config-folders.ts';

export const zed = defineClient({
  id: 'zed',
  title: 'Zed',
  format: 'json',
  section: 'context_servers',
  usualScope: 'global',
  projectWord: '.',
  place(scope, folders) {
    if (scope === 'project') return { path: join(folders.project, '.zed', 'settings.json'), root: folders.project };
    const isWindows = folders.platform === 'win32';
    const root = isWindows ? appConfig(folders) : folders.platform === 'darwin' ? folders.home : xdgConfig(folders);
    const folder = isWindows ? ['Zed'] : folders.platform === 'darwin' ? ['.config', 'zed'] : ['zed'];
    return { path: join(root, ...folder, 'settings.json'), root };
  },
  stdio: ({ command, args }) => ({ command, args: [...args] }),
  http: (url) => ({ url }),
  httpNote:
    'Zed takes no variables in headers: add "headers": {"Authorization": "Bearer …"} to your own settings by hand',
});
