/** Cursor. */
import { join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';

export const cursor = defineClient({
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  section: 'mcpServers',
  usualScope: 'project',
  projectWord: `\${workspaceFolder}`,
  place(scope, { home, project }) {
    const root = scope === 'project' ? project : home;
    return { path: join(root, '.cursor', 'mcp.json'), root };
  },
  stdio: ({ command, args }) => ({ type: 'stdio', command, args: [...args] }),
  http: (url) => ({ url, headers: { Authorization: `Bearer \${env:${TOKEN_VARIABLE}}` } }),
});
