/**
 * fast-filesystem-mcp. It may always use the home folder and /tmp, so give --scratch with a folder elsewhere. A refused
 * edit is an answer without an error, told by its message.
 */
import type { ProfileSource } from '../profile.ts';

export const fastFilesystem: ProfileSource = {
  name: 'fast-filesystem-mcp',
  summary: 'fast-filesystem-mcp',
  start: { mcp: '{program} --allow {workspace}' },
  variables: { program: 'npx -y fast-filesystem-mcp' },
  paths: 'absolute',
  refusal: '"message": "(?:Text not found|Replacement count mismatch)',
  tools: {
    read: { tool: 'fast_read_file', args: { path: '{path}' }, text: 'content.*.text.content' },
    write: { tool: 'fast_write_file', args: { path: '{path}', content: '{content}' } },
    edit: { tool: 'fast_edit_block', args: { path: '{path}', old_text: '{old}', new_text: '{new}' } },
    list: { tool: 'fast_list_directory', args: { path: '{path}' } },
    search: { tool: 'fast_search_code', args: { path: '{path}', pattern: '{pattern}' } },
  },
};
