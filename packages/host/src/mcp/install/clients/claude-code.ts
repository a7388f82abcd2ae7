/**
 * Claude Code. Its file for all projects is also where it keeps its own state and writes all the time, so that one is
 * left to its own command.
 */
import { join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';

export const claudeCode = defineClient({
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  section: 'mcpServers',
  usualScope: 'project',
  projectWord: '.',
  place: (scope, { project }) =>
    scope === 'project' ? { path: join(project, '.mcp.json'), root: project } : undefined,
  instead: ({ command, args }, name) =>
    `claude mcp add --scope user ${name} -- ${[command, ...args].map(quote).join(' ')}`,
  stdio: ({ command, args }) => ({ type: 'stdio', command, args: [...args] }),
  http: (url) => ({ type: 'http', url, headers: { Authorization: `Bearer \${${TOKEN_VARIABLE}}` } }),
});

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
