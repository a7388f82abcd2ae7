/**
 * file_write: the whole content of one file, or something at its end, replaced atomically.
 *
 * Answers without a promise when the workspace does. An append reads and replaces the whole file: readers see the old
 * file or the new one, and of two hosts that append at once neither loses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import type { FileChange, WriteOptions } from '../../contracts/workspace.ts';
import { changedMeanwhile } from '../../platform/files/snapshot-entry.ts';
import { counted, shownName } from '../../present/rows.ts';
import { readExisting } from './read-existing.ts';

const MAX_APPENDED_FILE_BYTES = 256 * 1024 * 1024;
const APPEND_ATTEMPTS = 40;
const LONGEST_PAUSE_MS = 20;

const args = z
  .strictObject({
    path: z.string().min(1).describe('File to write, relative to the workspace root'),
    content: z
      .string()
      .refine((text) => text.isWellFormed(), 'content holds half of a surrogate pair, which has no UTF-8 form')
      .describe('The whole content; with `append` what to add'),
    attribution: z.record(z.string(), z.json()).optional().describe('Who the change is for; recorded'),
    create_dirs: z.boolean().default(true).describe('Create missing parent folders'),
    mode_octal: z
      .string()
      .regex(/^0?[0-7]{3}$/, 'mode_octal must be three octal digits, with or without one leading 0, such as "0644"')
      .optional()
      .describe('Permission bits of the file'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('Of `content`'),
    expected_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected_sha256 must be 64 lower-case hex digits, as file_read answers them')
      .nullable()
      .optional()
      .describe('Replace only this version; null: only a missing file'),
    create_only: z.boolean().default(false).describe('Fail when the file exists'),
    append: z.boolean().default(false).describe('Add at the end of the file'),
  })
  .refine(({ create_only, append }) => !(create_only && append), {
    path: ['append'],
    message: 'append and create_only cannot be combined',
  })
  .refine(({ create_only, expected_sha256 }) => !create_only || typeof expected_sha256 !== 'string', {
    path: ['expected_sha256'],
    message: 'a file that must not exist has no digest: leave out expected_sha256 or create_only',
  });

const data = z.strictObject({
  written: z.boolean().describe('The content is in place'),
  bytes: z.int().describe('Bytes written; with `append` those added'),
  size: z.int().describe('Size of the file now'),
  sha256: z.string().describe('Hex digest of the file now'),
  before_sha256: z.string().nullable().describe('Hex digest of the file before; null for a new file'),
  changed: z.boolean().describe('False when the content was already the same'),
  created: z.boolean().describe('True when there was no such file'),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;

export const fileWrite = defineTool({
  name: 'file_write',
  category: 'fs',
  title: 'Write file',
  summary: 'Create or replace a file inside the workspace, or append to it',
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
  knownAs: {
    names: ['write', 'writefile', 'createfile'],
    args: { file_path: 'path', path: 'path', target_file: 'path', content: 'content', contents: 'content' },
  },
  idempotent: true,
  isIdempotent: ({ append }) => !append,
  rehearse: 'run',
  timeoutMs: 10_000,
  privateArgs: ['content'],
  recordDetails: ({ attribution }) => (attribution === undefined ? {} : { attribution }),
  present: presentWritten,
  run(wanted, context) {
    const bytes = bytesOf(wanted);
    if (wanted.append) return append(wanted, bytes, context);
    const { expected_sha256, create_only } = wanted;
    const change = context.workspace.writeFile(wanted.path, bytes, {
      ...placing(wanted),
      ...(create_only ? { exclusive: true } : {}),
      ...(expected_sha256 === undefined ? {} : { expectedSha256: expected_sha256 }),
    });
    if (change instanceof Promise) return change.then((done) => answer(wanted, done, bytes.length));
    return answer(wanted, change, bytes.length);
  },
});

function bytesOf({ content, encoding }: Args): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content, 'utf8');
  const bytes = Buffer.from(content, 'base64');
  // The decoder passes over what it does not know; only text that comes back the same was base64.
  if (bytes.toString('base64') === content) return bytes;
  throw new ToolError('E_VALIDATION_FAIL', 'Content is not base64: content', {
    path: 'content',
    details: { next: 'Use the standard alphabet with padding and without line breaks' },
  });
}

function placing({ create_dirs, mode_octal }: Args): WriteOptions {
  const mode = mode_octal === undefined ? {} : { mode: Number.parseInt(mode_octal, 8), forceMode: true };
  return { createDirs: create_dirs, ...mode };
}

/** Another host may have written in between: then the read is repeated, unless the caller named the content to add to. */
async function append(wanted: Args, added: Buffer, context: ToolContext): Promise<Data> {
  const expected = wanted.expected_sha256;
  for (let attempt = 1; ; attempt++) {
    const current = await readCurrent(wanted.path, context);
    const expectedSha256 = current?.sha256 ?? null;
    if (expected !== undefined && expected !== expectedSha256) {
      throw changedMeanwhile(wanted.path, { expected, actual: expectedSha256 });
    }
    const bytes = current === undefined ? added : Buffer.concat([current.bytes, added]);
    try {
      const change = await context.workspace.writeFile(wanted.path, bytes, { ...placing(wanted), expectedSha256 });
      return answer(wanted, change, added.length);
    } catch (thrown) {
      const isLast = attempt === APPEND_ATTEMPTS || expected !== undefined || context.signal.aborted;
      if (isLast || !isConflict(thrown)) throw thrown;
    }
    await delay(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
  }
}

/** Undefined when there is no file to add to. */
async function readCurrent(path: string, context: ToolContext) {
  const current = await readExisting(path, context, MAX_APPENDED_FILE_BYTES);
  if (current === undefined || !current.truncated) return current;
  throw new ToolError('E_FILE_IO', `File is too large to append to: ${path}`, {
    path,
    details: { reason: 'too_large', limit_bytes: MAX_APPENDED_FILE_BYTES, next: 'Write to a new file instead' },
  });
}

function isConflict(thrown: unknown): boolean {
  if (!isToolError(thrown) || thrown.code !== 'E_FILE_IO') return false;
  return thrown.details['reason'] === 'precondition_failed' || thrown.details['reason'] === 'EEXIST';
}

function answer({ path }: Args, { before, after }: FileChange, bytes: number): Data {
  if (after === null || after.sha256 === null) {
    throw new ToolError('E_INTERNAL', `File vanished while it was written: ${path}`, { path });
  }
  return {
    written: true,
    bytes,
    size: after.size,
    sha256: after.sha256,
    before_sha256: before?.sha256 ?? null,
    changed: before?.sha256 !== after.sha256,
    created: before === null,
  };
}

function presentWritten({ bytes, size, sha256, changed, created }: Data, { path, append }: Args): ToolText {
  const what = created ? 'created' : changed ? (append ? 'appended to' : 'wrote') : 'unchanged';
  return { head: `${what} ${shownName(path)}: ${counted(bytes, 'byte')} written, ${size} in all, sha256 ${sha256}` };
}
