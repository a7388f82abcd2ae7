/** @modelcontextprotocol/server-filesystem. It has no tool that searches contents and none that runs commands. */
import type { ProfileSource } from '../profile.ts';

export const serverFilesystem: ProfileSource = {
  name: 'server-filesystem',
  summary: '@modelcontextprotocol/server-filesystem',
  start: { mcp: '{program} {workspace}' },
  variables: { program: 'npx -y @modelcontextprotocol/server-filesystem' },
  paths: 'absolute',
  tools: {
    read: { tool: 'read_text_file', args: { path: '{path}' } },
    write: { tool: 'write_file', args: { path: '{path}', content: '{content}' } },
    edit: { tool: 'edit_file', args: { path: '{path}', edits: [{ oldText: '{old}', newText: '{new}' }] } },
    list: { tool: 'list_directory', args: { path: '{path}' } },
  },
};
