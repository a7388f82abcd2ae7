/** Codex: a table in its TOML file. It reads a project's file once the user trusts the project. */
import { isAbsolute, join } from 'node:path';
import { defineClient, TOKEN_VARIABLE } from '../client.ts';

export const codex = defineClient({
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  section: 'mcp_servers',
  usualScope: 'global',
  projectWord: '.',
  place(scope, { home, project, env }) {
    if (scope === 'project') return { path: join(project, '.codex', 'config.toml'), root: project };
    const moved = env['CODEX_HOME'];
    if (moved !== undefined && isAbsolute(moved)) return { path: join(moved, 'config.toml'), root: moved };
    return { path: join(home, '.codex', 'config.toml'), root: home };
  },
  stdio: ({ command, args }) => ({ command, args: [...args] }),
  http: (url) => ({ url, bearer_token_env_var: TOKEN_VARIABLE }),
});
