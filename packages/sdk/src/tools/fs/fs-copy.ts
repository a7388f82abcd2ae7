/** fs_copy: one file, or a folder with everything in it, under another name; visible only when it is whole. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { counted, shownName } from '../../present/rows.ts';

const args = z.strictObject({
  src: z.string().min(1).describe('File, folder or link to copy, relative to the workspace root'),
  dst: z.string().min(1).describe('Path of the copy, relative to the workspace root'),
  overwrite: z.boolean().default(false).describe('Replace what is at dst: a file by a file, a folder by a folder'),
  preserve_mode: z.boolean().default(true).describe('Keep permission bits; otherwise files get 0644 and folders 0755'),
  create_dirs: z.boolean().default(false).describe('Create missing parent folders of dst'),
});

const data = z.strictObject({
  copied: z.boolean().describe('The copy is in place'),
  entries: z.int().describe('Files, folders and links that were copied'),
  bytes: z.int().describe('Size of the files that were copied'),
  replaced: z.boolean().describe('Something at dst was replaced'),
});

export const fsCopy = defineTool({
  name: 'fs_copy',
  category: 'fs',
  title: 'Copy file or folder',
  summary: 'Copy a file or folder inside the workspace',
  policyNotes:
    'Paths that leave the workspace, the workspace root, `.git`, the registry file and folders that hold one of these ' +
    'are refused; links are copied as links; devices, pipes and sockets are refused',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['src', 'dst'],
      arg_aliases: { source: 'src', from: 'src', destination: 'dst', to: 'dst', target: 'dst' },
      required: ['src', 'dst'],
    },
    capabilities: { workspace: ['copy'] },
  },
  effect: 'write',
  risk: 'medium',
  rehearse: 'run',
  timeoutMs: 10_000,
  present: presentCopied,
  async run({ src, dst, overwrite, preserve_mode, create_dirs }, { workspace, signal }) {
    const { changes, entries, bytes } = await workspace.copy(src, dst, {
      overwrite,
      preserveMode: preserve_mode,
      createDirs: create_dirs,
      signal,
    });
    return { copied: true, entries, bytes, replaced: changes.some(({ before }) => before !== null) };
  },
});

function presentCopied(
  { entries, bytes, replaced }: z.output<typeof data>,
  { src, dst }: z.output<typeof args>,
): string {
  const over = replaced ? ', replacing what was there' : '';
  return `copied ${shownName(src)} to ${shownName(dst)}: ${counted(entries, 'entry', 'entries')}, ${bytes} bytes${over}`;
}
