/** filesystem-mcp: view, create, str_replace and insert. */
import type { ProfileSource } from '../profile.ts';

export const filesystemMcp: ProfileSource = {
  name: 'filesystem-mcp',
  summary: 'filesystem-mcp',
  start: { mcp: '{program} {workspace}' },
  variables: { program: 'npx -y filesystem-mcp' },
  paths: 'absolute',
  tools: {
    read: { tool: 'view', args: { path: '{path}' }, text: 'structuredContent.content' },
    write: { tool: 'create', args: { path: '{path}', content: '{content}' } },
    edit: { tool: 'str_replace', args: { path: '{path}', old_str: '{old}', new_str: '{new}' } },
  },
};
