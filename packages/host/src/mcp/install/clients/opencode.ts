/** opencode: program and arguments are one list. The file may end in `.jsonc`; the one that is there is taken. */
import { join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';
import { xdgConfig } from '../config-folders.ts';

export const opencode = defineClient({
  id: 'opencode',
  title: 'opencode',
  format: 'json',
  section: 'mcp',
  usualScope: 'project',
  projectWord: '.',
  place(scope, folders) {
    const root = scope === 'project' ? folders.project : xdgConfig(folders);
    const folder = scope === 'project' ? root : join(root, 'opencode');
    const [plain, commented] = [join(folder, 'opencode.json'), join(folder, 'opencode.jsonc')];
    return { path: !folders.exists(plain) && folders.exists(commented) ? commented : plain, root };
  },
  stdio: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  http: (url) => ({ type: 'remote', url, enabled: true, headers: { Authorization: `Bearer {env:${TOKEN_VARIABLE}}` } }),
});
