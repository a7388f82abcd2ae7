/** VS Code: `servers`, not `mcpServers`, in a file of their own. */
import { join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';
import { appConfig } from '../config-folders.ts';

export const vsCode = defineClient({
  id: 'vs-code',
  title: 'VS Code',
  format: 'json',
  section: 'servers',
  usualScope: 'project',
  projectWord: `\${workspaceFolder}`,
  place(scope, folders) {
    if (scope === 'project') return { path: join(folders.project, '.vscode', 'mcp.json'), root: folders.project };
    const root = appConfig(folders);
    return { path: join(root, 'Code', 'User', 'mcp.json'), root };
  },
  stdio: ({ command, args }) => ({ type: 'stdio', command, args: [...args] }),
  http: (url) => ({ type: 'http', url, headers: { Authorization: `Bearer \${env:${TOKEN_VARIABLE}}` } }),
});
