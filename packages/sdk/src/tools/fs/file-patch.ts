/** file_patch: a unified diff applied to one file, all of it or nothing. */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import type { FileContent, FileSnapshot } from '../../contracts/workspace.ts';
import { changedMeanwhile } from '../../platform/files/changed-meanwhile.ts';
import { counted, shownName } from '../../present/rows.ts';
import { type AppliedHunk, applyPatch } from '../../text/apply-patch.ts';
import { type FilePatch, MAX_DIFF_BYTES, parseUnifiedDiff, type UnifiedDiff } from '../../text/unified-diff.ts';
import { choosePatch, otherNames } from './file-patch/choose-patch.ts';
import { patchContent } from './file-patch/patch-content.ts';
import { readExisting } from './read-existing.ts';

const MAX_FILE_BYTES = 256 * 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).describe('File to patch, relative to the workspace root'),
  unified_diff: z
    .string()
    .max(MAX_DIFF_BYTES, `unified_diff is longer than ${MAX_DIFF_BYTES} characters`)
    .refine((text) => text.isWellFormed(), 'unified_diff holds half of a surrogate pair, which has no UTF-8 form')
    .describe('Hunks for this one file; /dev/null as the old or new name creates or deletes it'),
  expected_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected_sha256 must be 64 lower-case hex digits, as file_read answers them')
    .optional()
    .describe('Patch only if the file has this digest now'),
});

const data = z.strictObject({
  patched: z.boolean().describe('The file is now what the diff says; false when there was nothing to change'),
  hunks_applied: z.int(),
  changed: z.boolean().describe('False when the diff is empty or changes nothing'),
  created: z.boolean(),
  deleted: z.boolean(),
  bytes: z.int().describe('Size of the file now; 0 when it was deleted'),
  sha256: z.string().nullable().describe('Hex digest of the file now; null when it was deleted'),
  before_sha256: z.string().nullable().describe('Hex digest of the file before; null when it was created'),
  hunks: z
    .array(
      z.strictObject({
        hunk: z.int().describe('Number of the hunk, from 1'),
        line: z.int().describe('Line of the old file it begins at'),
        offset: z.int().describe('How far that is from the line its header names'),
        added: z.int(),
        removed: z.int(),
        match: z.enum(['exact', 'tolerant']).describe('tolerant: line ends or blanks of empty lines differed'),
      }),
    )
    .describe('Where each hunk went'),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;

export const filePatch = defineTool({
  name: 'file_patch',
  category: 'fs',
  title: 'Patch file',
  summary: 'Apply a unified diff to one file inside the workspace',
  policyNotes:
    'Paths that leave the workspace, `.git` and the registry file are refused; a diff that names another file is refused; ' +
    'a deletion must show every line of the file, and needs what fs_delete needs',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['path'],
      arg_aliases: { file: 'path', file_path: 'path', diff: 'unified_diff', patch: 'unified_diff' },
      required: ['path', 'unified_diff'],
    },
    capabilities: { workspace: ['write_text'] },
  },
  effect: 'write',
  risk: 'medium',
  profile: ({ unified_diff: diff }) => (deletesFile(diff) ? { kind: 'delete', risk: 'high' } : {}),
  operations: ({ unified_diff: diff }) => (deletesFile(diff) ? { workspace: ['delete'] } : {}),
  innerPaths: ({ path, unified_diff: diff }) => otherNames(parsed(diff), path).map((value) => ({ key: 'path', value })),
  knownAs: {
    names: ['applypatch', 'patch'],
    args: {
      file_path: 'path',
      path: 'path',
      target_file: 'path',
      diff: 'unified_diff',
      patch: 'unified_diff',
    },
  },
  rehearse: 'run',
  timeoutMs: 10_000,
  privateArgs: ['unified_diff'],
  present: presentPatched,
  async run(wanted, context) {
    const patch = choosePatch(parseUnifiedDiff(Buffer.from(wanted.unified_diff, 'utf8')), wanted.path);
    const current = await readCurrent(wanted, context);
    if (patch !== undefined && isCreation(patch, current)) return create(wanted, patch, context);
    if (current === undefined) throw notFound(wanted.path);
    return patch === undefined ? unchanged(current, []) : change(wanted, { patch, current, context });
  },
});

/** Most diffs do not speak of /dev/null and need not be read to know that they delete nothing. */
function deletesFile(diff: string): boolean {
  return /\/dev\/null|deleted file/.test(diff) && parsed(diff).files.some(({ isDeletion }) => isDeletion);
}

/** A diff that cannot be read does nothing: the tool itself says what is wrong with it. */
function parsed(diff: string): UnifiedDiff {
  try {
    return parseUnifiedDiff(Buffer.from(diff, 'utf8'));
  } catch (thrown) {
    if (isToolError(thrown)) return { files: [] };
    throw thrown;
  }
}

async function readCurrent({ path, expected_sha256: expected }: Args, context: ToolContext) {
  const current = await readExisting(path, context, MAX_FILE_BYTES);
  if (current?.truncated) {
    throw new ToolError('E_FILE_IO', `File is too large to patch: ${path}`, {
      path,
      details: { reason: 'too_large', limit_bytes: MAX_FILE_BYTES, next: 'Split the file' },
    });
  }
  const actual = current?.sha256 ?? null;
  if (expected !== undefined && expected !== actual) throw changedMeanwhile(path, { expected, actual });
  return current;
}

/** Said so, or nothing there and nothing wanted but lines: such diffs are written without /dev/null too. */
function isCreation(patch: FilePatch, current: FileContent | undefined): boolean {
  if (patch.isCreation || current !== undefined) return patch.isCreation;
  return patch.hunks.length === 1 && patch.hunks.every(isWholeFile);
}

function isWholeFile({ oldStart, added, firstRow, endRow }: FilePatch['hunks'][number]): boolean {
  return oldStart === 0 && added === endRow - firstRow;
}

async function create({ path }: Args, patch: FilePatch, context: ToolContext): Promise<Data> {
  const { bytes, hunks } = explaining(path, context, () => applyPatch(Buffer.alloc(0), patch));
  const mode = patch.newMode === undefined ? {} : { mode: patch.newMode };
  const { after } = await context.workspace.writeFile(path, bytes, { exclusive: true, createDirs: true, ...mode });
  return { ...done(path, { before: null, after }, hunks), created: true };
}

interface Change {
  readonly patch: FilePatch;
  readonly current: FileContent;
  readonly context: ToolContext;
}

async function change({ path, unified_diff: diff }: Args, { patch, current, context }: Change): Promise<Data> {
  const { workspace } = context;
  const { bytes, hunks } = explaining(path, context, () => patchContent(current.bytes, { path, diff, patch }));
  const expectedSha256 = current.sha256;
  if (patch.isDeletion) {
    const removed = await workspace.removeFile(path, { expectedSha256 });
    if (removed === null) throw notFound(path);
    return { ...done(path, removed, hunks), bytes: 0, sha256: null, deleted: true };
  }
  const mode = patch.newMode === undefined || patch.newMode === current.mode ? undefined : patch.newMode;
  if (mode === undefined && bytes.equals(current.bytes)) return unchanged(current, hunks);
  const forced = mode === undefined ? {} : { mode, forceMode: true };
  return done(path, await workspace.writeFile(path, bytes, { expectedSha256, ...forced }), hunks);
}

interface Outcome {
  readonly before: FileSnapshot | null;
  readonly after: FileSnapshot | null;
}

function done(path: string, { before, after }: Outcome, hunks: readonly AppliedHunk[]): Data {
  const sha256 = after?.sha256 ?? null;
  if (after !== null && sha256 === null) {
    throw new ToolError('E_INTERNAL', `File vanished while it was written: ${path}`, { path });
  }
  return {
    patched: true,
    hunks_applied: hunks.length,
    changed: true,
    created: false,
    deleted: false,
    bytes: after?.size ?? 0,
    sha256,
    before_sha256: before?.sha256 ?? null,
    hunks: [...hunks],
  };
}

function unchanged({ size, sha256 }: FileContent, hunks: readonly AppliedHunk[]): Data {
  return {
    patched: false,
    hunks_applied: hunks.length,
    changed: false,
    created: false,
    deleted: false,
    bytes: size,
    sha256,
    before_sha256: sha256,
    hunks: [...hunks],
  };
}

/** Refusals quote lines of the file and of the diff, and are recorded: they get the path and lose known secrets. */
function explaining<T>(path: string, { redact }: ToolContext, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const details = Object.entries(thrown.details).map(([key, value]) => {
      return [key, typeof value === 'string' ? redact(value) : value];
    });
    throw new ToolError(thrown.code, redact(thrown.message), {
      path,
      details: Object.fromEntries(details) as JsonObject,
      cause: thrown,
    });
  }
}

function notFound(path: string): ToolError {
  return new ToolError('E_FILE_IO', `File not found: ${path}`, {
    path,
    details: { reason: 'ENOENT', next: 'Check the spelling; to create the file, give /dev/null as its old name' },
  });
}

function presentPatched({ hunks, changed, created, deleted, bytes, sha256 }: Data, { path }: Args): ToolText {
  const what = created ? 'created' : deleted ? 'deleted' : changed ? 'patched' : 'unchanged';
  const added = hunks.reduce((sum, hunk) => sum + hunk.added, 0);
  const removed = hunks.reduce((sum, hunk) => sum + hunk.removed, 0);
  const now = sha256 === null ? '' : `; now ${bytes} bytes, sha256 ${sha256}`;
  const moved = hunks.filter(({ offset, match }) => offset !== 0 || match !== 'exact');
  const rows = moved.map(
    ({ hunk, line, offset, match }) => `  hunk ${hunk} at line ${line}, ${offset} from where it says, ${match} match`,
  );
  const head = `${what} ${shownName(path)}: ${counted(hunks.length, 'hunk')}, +${added} -${removed}${now}`;
  return { head: [head, ...rows].join('\n') };
}
