/** fs_move: one file or folder to another name, in one step. */
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { counted, shownName } from '../../present/rows.ts';
import { GIT_LOCKS } from '../git/git-annotations.ts';
import { saveBefore } from '../git/recovery/save-before.ts';

const args = z.strictObject({
  src: z.string().min(1).describe('File, folder or link to move, relative to the workspace root'),
  dst: z.string().min(1).describe('Its new path, relative to the workspace root'),
  overwrite: z.boolean().default(false).describe('Replace what is at dst: a file by a file, a folder by a folder'),
  create_dirs: z.boolean().default(false).describe('Create missing parent folders of dst'),
});

const data = z.strictObject({
  moved: z.boolean().describe('False when src and dst are the same name, so that nothing had to be done'),
  entries: z.int().describe('Files, folders and links that were moved'),
  bytes: z.int().describe('Size of the files that were moved'),
  replaced: z.boolean().describe('Something at dst was replaced'),
  recovery: z.string().exactOptional().describe('For git_recover: what was at dst before'),
});
type Args = z.output<typeof args>;

export const fsMove = defineTool({
  name: 'fs_move',
  category: 'fs',
  title: 'Move file or folder',
  summary: 'Move or rename a file or folder inside the workspace',
  policyNotes:
    'Paths that leave the workspace, the workspace root, `.git`, the registry file and folders that hold one of these ' +
    'are refused; links are moved themselves',
  args,
  data,
  annotations: {
    kind: 'move',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['src', 'dst'],
      arg_aliases: { source: 'src', from: 'src', destination: 'dst', to: 'dst', target: 'dst' },
      required: ['src', 'dst'],
    },
    capabilities: { workspace: ['move'] },
  },
  effect: 'write',
  risk: 'medium',
  rehearse: move,
  timeoutMs: 60_000,
  locks: GIT_LOCKS,
  present: presentMoved,
  async run(given, context) {
    const saved = given.overwrite ? await saveBefore(context, 'move', given.dst) : {};
    return { ...(await move(given, context)), ...saved };
  },
});

async function move({ src, dst, overwrite, create_dirs }: Args, { workspace, signal }: ToolContext) {
  const { changes, entries, bytes } = await workspace.move(src, dst, { overwrite, createDirs: create_dirs, signal });
  const replaced = changes.some(({ before, after }) => before !== null && after !== null);
  return { moved: changes.length > 0, entries, bytes, replaced };
}

function presentMoved(done: z.output<typeof data>, { src, dst }: z.output<typeof args>): string {
  const { moved, entries, bytes, replaced } = done;
  if (!moved) return `${shownName(src)} and ${shownName(dst)} are the same name: nothing to do`;
  const over = replaced ? ', replacing what was there' : '';
  return `moved ${shownName(src)} to ${shownName(dst)}: ${counted(entries, 'entry', 'entries')}, ${bytes} bytes${over}`;
}
