/** mcp-server-commands: one tool that runs a command in a shell. */
import type { ProfileSource } from '../profile.ts';

export const mcpServerCommands: ProfileSource = {
  name: 'mcp-server-commands',
  summary: 'mcp-server-commands',
  start: { mcp: '{program}' },
  variables: { program: 'npx -y mcp-server-commands' },
  tools: {
    run: { tool: 'run_command', args: { command: '{command}' }, programs: ['cat', 'echo', 'env', 'sh', 'sleep'] },
  },
};
