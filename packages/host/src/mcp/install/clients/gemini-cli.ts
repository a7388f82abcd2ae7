/** Gemini CLI. Strings of its settings may name variables; comments are allowed. */
import { join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';

export const geminiCli = defineClient({
  id: 'gemini-cli',
  title: 'Gemini CLI',
  format: 'json',
  section: 'mcpServers',
  usualScope: 'global',
  projectWord: '.',
  place(scope, { home, project }) {
    const root = scope === 'project' ? project : home;
    return { path: join(root, '.gemini', 'settings.json'), root };
  },
  stdio: ({ command, args }) => ({ command, args: [...args] }),
  http: (url) => ({ httpUrl: url, headers: { Authorization: `Bearer $${TOKEN_VARIABLE}` } }),
});
