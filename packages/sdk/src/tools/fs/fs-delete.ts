/** fs_delete: one file, link or folder; a folder with content only when asked for by name. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { counted, shownName } from '../../present/rows.ts';

const args = z.strictObject({
  path: z.string().min(1).describe('File, folder or link to delete, relative to the workspace root'),
  recursive: z.boolean().default(false).describe('Delete a folder with everything in it'),
  force: z.boolean().default(false).describe('A path that does not exist is no error'),
});

const data = z.strictObject({
  deleted: z.boolean().describe('False when there was nothing'),
  entries: z.int().describe('Files, folders and links that were deleted'),
  bytes: z.int().describe('Size of the files that were deleted'),
});

export const fsDelete = defineTool({
  name: 'fs_delete',
  category: 'fs',
  title: 'Delete file or folder',
  summary: 'Delete a file or folder inside the workspace',
  policyNotes:
    'Paths that leave the workspace, the workspace root, `.git`, the registry file and folders that hold one of these ' +
    'are refused; a link is deleted itself, never what it leads to',
  args,
  data,
  annotations: {
    kind: 'delete',
    side_effect_level: 'workspace_write',
    arg_schema: { path_params: ['path'], arg_aliases: { file: 'path', file_path: 'path' }, required: ['path'] },
    capabilities: { workspace: ['delete'] },
  },
  effect: 'write',
  risk: 'high',
  profile: ({ recursive, force }) => (recursive && force ? { risk: 'critical' } : {}),
  rehearse: 'run',
  timeoutMs: 10_000,
  present: presentDeleted,
  async run({ path, recursive, force }, { workspace, signal }) {
    const done = await workspace.remove(path, { recursive, signal });
    if (done !== null) return { deleted: true, entries: done.entries, bytes: done.bytes };
    if (force) return { deleted: false, entries: 0, bytes: 0 };
    throw new ToolError('E_FILE_IO', `File not found: ${path}`, {
      path,
      details: { reason: 'ENOENT', next: 'Check the spelling, or pass force: true when it may be missing' },
    });
  },
});

function presentDeleted({ deleted, entries, bytes }: z.output<typeof data>, { path }: z.output<typeof args>): string {
  if (!deleted) return `nothing to delete: ${shownName(path)} is not there`;
  return `deleted ${shownName(path)}: ${counted(entries, 'entry', 'entries')}, ${bytes} bytes`;
}
