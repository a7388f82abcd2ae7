/** fs_delete: one file, link or folder; a folder with content only when asked for by name. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { counted, shownName } from '../../present/rows.ts';
import { GIT_LOCKS } from '../git/git-annotations.ts';
import { saveBefore } from '../git/recovery/save-before.ts';

const args = z.strictObject({
  path: z.string().min(1).describe('File, folder or link to delete, relative to the workspace root'),
  recursive: z.boolean().default(false).describe('Delete a folder with everything in it'),
  force: z.boolean().default(false).describe('A path that does not exist is no error'),
});

const data = z.strictObject({
  deleted: z.boolean().describe('False when there was nothing'),
  entries: z.int().describe('Files, folders and links that were deleted'),
  bytes: z.int().describe('Size of the files that were deleted'),
  recovery: z.string().exactOptional().describe('For git_recover: the files before; ignored ones are not in it'),
});
type Args = z.output<typeof args>;

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
  rehearse: remove,
  timeoutMs: 60_000,
  locks: GIT_LOCKS,
  present: presentDeleted,
  async run(given, context) {
    const saved = await saveBefore(context, 'delete', given.path);
    return { ...(await remove(given, context)), ...saved };
  },
});

async function remove({ path, recursive, force }: Args, { workspace, signal }: ToolContext) {
  const done = await workspace.remove(path, { recursive, signal });
  if (done !== null) return { deleted: true, entries: done.entries, bytes: done.bytes };
  if (force) return { deleted: false, entries: 0, bytes: 0 };
  throw new ToolError('E_FILE_IO', `File not found: ${path}`, {
    path,
    details: { reason: 'ENOENT', next: 'Check the spelling, or pass force: true when it may be missing' },
  });
}

function presentDeleted({ deleted, entries, bytes }: z.output<typeof data>, { path }: z.output<typeof args>): string {
  if (!deleted) return `nothing to delete: ${shownName(path)} is not there`;
  return `deleted ${shownName(path)}: ${counted(entries, 'entry', 'entries')}, ${bytes} bytes`;
}
