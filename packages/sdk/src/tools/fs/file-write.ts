/** file_write: the whole content of one file, replaced atomically. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';

const args = z.strictObject({
  path: z.string().min(1).describe('File to write, relative to the workspace root'),
  content: z
    .string()
    .refine((text) => text.isWellFormed(), 'content holds half of a surrogate pair, which has no UTF-8 form')
    .describe('The whole new content, stored as UTF-8'),
  attribution: z
    .record(z.string(), z.json())
    .optional()
    .describe('Who or what the change is made for; recorded in the journal'),
  create_dirs: z.boolean().default(true).describe('Create missing parent folders'),
  mode_octal: z
    .string()
    .regex(/^0?[0-7]{3}$/, 'mode_octal must be three octal digits, with or without one leading 0, such as "0644"')
    .optional()
    .describe('Permission bits; "0644" for a new file when left out, and an existing file then keeps its own'),
});

const data = z.strictObject({
  written: z.boolean().describe('The content is in place'),
  bytes: z.int().describe('Bytes written, counted as UTF-8'),
  sha256: z.string().describe('Hex digest of the new content'),
  before_sha256: z.string().nullable().describe('Hex digest of the replaced content; null for a new file'),
  changed: z.boolean().describe('False when the content was already the same'),
});

export const fileWrite = defineTool({
  name: 'file_write',
  category: 'fs',
  title: 'Write file',
  summary: 'Create or replace a file inside the workspace',
  policyNotes: 'Paths that leave the workspace, `.git` and the registry file are refused',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['path'],
      arg_aliases: { file: 'path', file_path: 'path' },
      required: ['path', 'content'],
    },
    capabilities: { workspace: ['write_text'] },
  },
  effect: 'write',
  risk: 'medium',
  idempotent: true,
  timeoutMs: 10_000,
  privateArgs: ['content'],
  recordDetails: ({ attribution }) => (attribution === undefined ? {} : { attribution }),
  async run({ path, content, create_dirs, mode_octal }, { workspace }) {
    const change = await workspace.writeFile(path, Buffer.from(content, 'utf8'), {
      createDirs: create_dirs,
      ...(mode_octal === undefined ? {} : { mode: Number.parseInt(mode_octal, 8), forceMode: true }),
    });
    const { before, after } = change;
    if (after === null) throw new ToolError('E_INTERNAL', `File vanished while it was written: ${path}`, { path });
    return {
      written: true,
      bytes: after.size,
      sha256: after.sha256,
      before_sha256: before?.sha256 ?? null,
      changed: before?.sha256 !== after.sha256,
    };
  },
});
