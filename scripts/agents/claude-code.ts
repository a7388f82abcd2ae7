/** Claude Code: settings by environment, the entry of the server from `.mcp.json`. */
import type { Agent } from './agent.ts';
import { anthropicMessages } from './wires.ts';

export const claudeCode: Agent = {
  client: 'claude-code',
  package: '@anthropic-ai/claude-code',
  program: 'claude',
  wire: anthropicMessages,
  prepare: ({ url }) => ({
    args: ['-p', 'go on', '--mcp-config', '.mcp.json', '--strict-mcp-config', '--allowedTools', 'mcp__tool-runtime'],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Tools of servers are otherwise searched for first.
      ENABLE_TOOL_SEARCH: 'false',
    },
  }),
};
