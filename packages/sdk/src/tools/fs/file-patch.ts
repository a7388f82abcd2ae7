/** file_patch: a unified diff applied to one file, or a patch that names its files; all of it or nothing. */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import type { FileContent, FileSnapshot } from '../../contracts/workspace.ts';
import { changedMeanwhile } from '../../platform/files/snapshot-entry.ts';
import { counted, shownName } from '../../present/rows.ts';
import { type AppliedHunk, applyPatch } from '../../text/apply-patch.ts';
import { isBeginPatch, type PatchSection, parseBeginPatch } from '../../text/begin-patch.ts';
import { MATCH_LEVELS } from '../../text/edit-ladder.ts';
import { type FilePatch, MAX_DIFF_BYTES, parseUnifiedDiff, type UnifiedDiff } from '../../text/unified-diff.ts';
import { choosePatch, otherNames } from './file-patch/choose-patch.ts';
import { patchContent } from './file-patch/patch-content.ts';
import { type PatchedPath, patchFiles } from './file-patch/patch-files.ts';
import { checkInexact } from './inexact.ts';
import { readExisting } from './read-existing.ts';

const MAX_FILE_BYTES = 256 * 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).optional().describe('File to patch; leave it out for *** Begin Patch'),
  unified_diff: z
    .string()
    .max(MAX_DIFF_BYTES, `unified_diff is longer than ${MAX_DIFF_BYTES} characters`)
    .refine((text) => text.isWellFormed(), 'unified_diff holds half of a surrogate pair, which has no UTF-8 form')
    .describe(
      'Hunks for this one file, /dev/null as the old or new name creates or deletes it; or *** Begin Patch with any files',
    ),
  expected_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected_sha256 must be 64 lower-case hex digits, as file_read answers them')
    .optional()
    .describe('Patch only if the file has this digest now'),
});

const hunks = z.array(
  z.strictObject({
    hunk: z.int().describe('Number of the hunk, from 1'),
    line: z.int().describe('Line of the old file it begins at'),
    offset: z.int().describe('How far that is from the line its header names'),
    added: z.int(),
    removed: z.int(),
    match: z.enum(MATCH_LEVELS).describe('How closely the lines of the diff fitted'),
  }),
);

const data = z.strictObject({
  patched: z.boolean().describe('The file is now what the diff says; false when there was nothing to change'),
  hunks_applied: z.int(),
  changed: z.boolean().describe('False when the diff is empty or changes nothing'),
  created: z.boolean(),
  deleted: z.boolean(),
  bytes: z.int().describe('Size of the file now; 0 when it was deleted'),
  sha256: z.string().nullable().describe('Hex digest of the file now; null when it was deleted'),
  before_sha256: z.string().nullable().describe('Hex digest of the file before; null when it was created'),
  hunks: hunks.describe('Where each hunk went; of the only file, or empty'),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        operation: z.enum(['add', 'update', 'move', 'delete']),
        moved_to: z.string().exactOptional(),
        bytes: z.int(),
        sha256: z.string().nullable(),
        before_sha256: z.string().nullable(),
        hunks,
      }),
    )
    .exactOptional()
    .describe(
      'What became of each file, for *** Begin Patch; the fields above are then sums, and null where files differ',
    ),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;

export const filePatch = defineTool({
  name: 'file_patch',
  category: 'fs',
  title: 'Patch file',
  summary: 'Apply a unified diff to one file, or a *** Begin Patch to several',
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
      required: ['unified_diff'],
    },
    capabilities: { workspace: ['write_text'] },
  },
  effect: 'write',
  risk: 'medium',
  profile: ({ unified_diff: diff }) => (deletesFile(diff) ? { kind: 'delete', risk: 'high' } : {}),
  operations: ({ unified_diff: diff }) => {
    const needed = [...(deletesFile(diff) ? ['delete'] : []), ...(movesFile(diff) ? ['move'] : [])];
    return needed.length === 0 ? {} : { workspace: needed };
  },
  innerPaths: ({ path, unified_diff: diff }) =>
    path === undefined ? [] : otherNames(parsed(diff), path).map((value) => ({ key: 'path', value })),
  pathsInText: ({ unified_diff: diff }) =>
    sectionsOf(diff).flatMap(({ path, moveTo }) =>
      [path, ...(moveTo === undefined ? [] : [moveTo])].map((value) => ({ key: 'path', value })),
    ),
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
    const { path, unified_diff: diff, expected_sha256: expected } = wanted;
    if (isBeginPatch(diff)) {
      if (expected !== undefined && path === undefined) throw pathMissing('expected_sha256');
      const read = (name: string) => readCurrent(name, name === path ? expected : undefined, context);
      return summed(await patchFiles({ diff, path, read, explaining }, context));
    }
    if (path === undefined) throw pathMissing('A unified diff');
    const patch = choosePatch(parseUnifiedDiff(Buffer.from(diff, 'utf8')), path);
    const current = await readCurrent(path, expected, context);
    if (patch !== undefined && isCreation(patch, current)) return create(path, patch, context);
    if (current === undefined) throw notFound(path);
    return patch === undefined ? unchanged(current, []) : change({ path, diff, patch, current, context });
  },
});

function pathMissing(what: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `${what} needs path`, {
    path: 'path',
    details: { reason: 'path_missing', next: 'Give path, the file that is meant' },
  });
}

function summed(files: readonly PatchedPath[]): Data {
  const [only, ...others] = files;
  const isOne = others.length === 0;
  return {
    patched: files.some(({ sha256, before_sha256: before }) => sha256 !== before),
    hunks_applied: files.reduce((sum, { hunks: own }) => sum + own.length, 0),
    changed: files.some(({ operation, sha256, before_sha256: before }) => operation === 'move' || sha256 !== before),
    created: files.some(({ operation }) => operation === 'add'),
    deleted: files.some(({ operation }) => operation === 'delete'),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    sha256: isOne ? (only?.sha256 ?? null) : null,
    before_sha256: isOne ? (only?.before_sha256 ?? null) : null,
    hunks: isOne ? [...(only?.hunks ?? [])] : [],
    files: files.map((file) => ({ ...file, hunks: [...file.hunks] })),
  };
}

/** Most diffs do not speak of /dev/null and need not be read to know that they delete nothing. */
function deletesFile(diff: string): boolean {
  if (isBeginPatch(diff)) return sectionsOf(diff).some(({ operation }) => operation === 'delete');
  return /\/dev\/null|deleted file/.test(diff) && parsed(diff).files.some(({ isDeletion }) => isDeletion);
}

function movesFile(diff: string): boolean {
  return sectionsOf(diff).some(({ moveTo }) => moveTo !== undefined);
}

/** None for a unified diff, and for a patch that cannot be read: the tool itself says what is wrong with it. */
function sectionsOf(diff: string): readonly PatchSection[] {
  if (!isBeginPatch(diff)) return [];
  try {
    return parseBeginPatch(Buffer.from(diff, 'utf8'));
  } catch (thrown) {
    if (isToolError(thrown)) return [];
    throw thrown;
  }
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

async function readCurrent(path: string, expected: string | undefined, context: ToolContext) {
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

async function create(path: string, patch: FilePatch, context: ToolContext): Promise<Data> {
  const { bytes, hunks } = explaining(context, path, () => applyPatch(Buffer.alloc(0), patch));
  const mode = patch.newMode === undefined ? {} : { mode: patch.newMode };
  const { after } = await context.workspace.writeFile(path, bytes, { exclusive: true, createDirs: true, ...mode });
  return { ...done(path, { before: null, after }, hunks), created: true };
}

interface Change {
  readonly path: string;
  readonly diff: string;
  readonly patch: FilePatch;
  readonly current: FileContent;
  readonly context: ToolContext;
}

async function change({ path, diff, patch, current, context }: Change): Promise<Data> {
  const { workspace } = context;
  const reparse = (encoded: Buffer) => parseUnifiedDiff(encoded).files[0] ?? patch;
  const job = { path, diff, patch, reparse };
  const { bytes, hunks } = explaining(context, path, () => patchContent(current.bytes, job));
  checkInexact(hunks, 'hunk', path, context);
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
function explaining<T>({ redact }: ToolContext, path: string, action: () => T): T {
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

function presentPatched(data: Data, { path }: Args): ToolText {
  if (data.files === undefined) return { head: presentFile(path ?? '', data) };
  return {
    head: data.files
      .map((file) => {
        const { operation, moved_to: target } = file;
        const what = {
          add: 'created',
          delete: 'deleted',
          update: 'patched',
          move: `moved to ${shownName(target ?? '')}:`,
        };
        return presentFile(file.path, file, what[operation]);
      })
      .join('\n'),
  };
}

type Shown = Pick<Data, 'hunks' | 'bytes' | 'sha256'>;

function presentFile(
  path: string,
  { hunks: own, bytes, sha256, ...rest }: Shown & Partial<Data>,
  done?: string,
): string {
  const { changed = true, created = false, deleted = false } = rest;
  const what = done ?? (created ? 'created' : deleted ? 'deleted' : changed ? 'patched' : 'unchanged');
  const added = own.reduce((sum, hunk) => sum + hunk.added, 0);
  const removed = own.reduce((sum, hunk) => sum + hunk.removed, 0);
  const now = sha256 === null ? '' : `; now ${bytes} bytes, sha256 ${sha256}`;
  const moved = own.filter(({ offset, match }) => offset !== 0 || match !== 'exact');
  const rows = moved.map(
    ({ hunk, line, offset, match }) => `  hunk ${hunk} at line ${line}, ${offset} from where it says, ${match} match`,
  );
  const head = `${what} ${shownName(path)}: ${counted(own.length, 'hunk')}, +${added} -${removed}${now}`;
  return [head, ...rows].join('\n');
}
