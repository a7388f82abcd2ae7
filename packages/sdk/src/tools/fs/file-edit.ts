/**
 * file_edit: texts of one file replaced by others, all of them or none.
 *
 * Each edit sees the file as the one before left it. An edit needs exactly one place; how exactly its old text must fit
 * is a ladder of levels, and the answer names the level that was needed.
 */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import type { FileContent } from '../../contracts/workspace.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { changedMeanwhile } from '../../platform/files/changed-meanwhile.ts';
import { shownName } from '../../present/rows.ts';
import { findPlaces, MATCH_LEVELS, type Place } from '../../text/edit-ladder.ts';
import { decodeText, detectEncoding, encodeText, type TextEncoding } from '../../text/encoding.ts';
import { lineDiff } from '../../text/line-diff.ts';
import { refusePlaceholder, refuseShrinking } from './file-edit/check-edit.ts';
import { ambiguous, lineAt, notFound } from './file-edit/explain-miss.ts';
import { checkInexact } from './inexact.ts';
import { readExisting } from './read-existing.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_EDITS = 100;
const MAX_DIFF_CHARS = 4096;

const wellFormed = (name: string) =>
  z.string().refine((text) => text.isWellFormed(), `${name} holds half of a surrogate pair, which has no UTF-8 form`);

const edit = {
  old: wellFormed('old'),
  new: wellFormed('new'),
  all: z.boolean().optional(),
  near_line: z.int().min(1).optional(),
};

const args = z
  .strictObject({
    path: z.string().min(1).describe('File to edit, relative to the workspace root'),
    old: edit.old.optional().describe('Text to replace, copied from the file; empty to create the file'),
    new: edit.new.optional().describe('Text to put in its place'),
    all: edit.all.describe('Replace every place instead of exactly one'),
    near_line: edit.near_line.describe('Of several places take the nearest'),
    edits: z
      .array(z.strictObject(edit))
      .min(1)
      .max(MAX_EDITS)
      .optional()
      .describe('Several edits in order, in place of old and new'),
    expected_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected_sha256 must be 64 lower-case hex digits, as file_read answers them')
      .optional()
      .describe('Edit only this version'),
    exact: z.boolean().optional().describe('Accept only an exact place'),
    allow_shrink: z.boolean().optional().describe('Let most lines go'),
    dry_run: z.boolean().optional().describe('Only answer with the diff'),
  })
  .refine((wanted) => (wanted.edits === undefined) !== (wanted.old === undefined && wanted.new === undefined), {
    path: ['edits'],
    message: 'give either old and new, or edits',
  })
  .refine((wanted) => wanted.edits !== undefined || (wanted.old !== undefined && wanted.new !== undefined), {
    path: ['new'],
    message: 'old and new belong together',
  });

const data = z.strictObject({
  changed: z.boolean().describe('False when the file is the same as before'),
  created: z.boolean().describe('True when there was no such file'),
  dry_run: z.boolean().describe('True when nothing was written'),
  edits: z
    .array(
      z.strictObject({
        line: z.int().describe('First line of the replaced text, in the file as this edit found it'),
        end_line: z.int(),
        match: z.enum(MATCH_LEVELS).describe('How closely the old text fitted'),
        places: z.int().describe('Places replaced; 1 unless all was given'),
      }),
    )
    .describe('Where each edit went'),
  diff: z.string().describe('What changed, cut after 4,096 characters'),
  bytes: z.int().describe('Size of the file now'),
  sha256: z.string().describe('Hex digest of the file now; with dry_run what it would be'),
  before_sha256: z.string().nullable().describe('Hex digest of the file before; null when it was created'),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;
type Edit = NonNullable<Args['edits']>[number];
type Placed = Data['edits'][number];

export const fileEdit = defineTool({
  name: 'file_edit',
  category: 'fs',
  title: 'Edit file',
  summary: 'Replace texts in one file inside the workspace',
  policyNotes:
    'Paths that leave the workspace, `.git` and the registry file are refused; a text that fits several places is refused',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['path'],
      arg_aliases: {
        file: 'path',
        file_path: 'path',
        old_string: 'old',
        new_string: 'new',
        old_str: 'old',
        new_str: 'new',
        replace_all: 'all',
      },
      list_params: ['edits'],
      required: ['path'],
    },
    capabilities: { workspace: ['write_text'] },
  },
  effect: 'write',
  risk: 'medium',
  profile: ({ dry_run: isDry }) =>
    isDry === true ? { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' } : {},
  knownAs: {
    names: ['edit', 'editfile', 'multiedit', 'strreplace', 'strreplacebasededittool', 'replace', 'searchreplace'],
    args: {
      file_path: 'path',
      path: 'path',
      target_file: 'path',
      old_string: 'old',
      new_string: 'new',
      old_str: 'old',
      new_str: 'new',
      replace_all: 'all',
      edits: 'edits',
    },
  },
  rehearse: 'run',
  timeoutMs: 10_000,
  privateArgs: ['old', 'new', 'edits'],
  hasLargeAnswers: true,
  present: presentEdited,
  async run(wanted, context) {
    const edits = wanted.edits ?? [
      { old: wanted.old ?? '', new: wanted.new ?? '', all: wanted.all, near_line: wanted.near_line },
    ];
    const current = await readCurrent(wanted, context);
    if (current === undefined) return create(wanted, edits, context);
    const { text, encoding } = decode(current, wanted.path);
    const { after, placed } = explaining(context, () => applyEdits(text, edits, wanted));
    if (wanted.allow_shrink !== true) refuseShrinking(text, after, wanted.path);
    checkInexact(placed, 'edit', wanted.path, context);
    const bytes = encoded(after, encoding, wanted.path);
    return write(wanted, { bytes, placed, diff: lineDiff(text, after), before: current.sha256 }, context);
  },
});

async function readCurrent({ path, expected_sha256: expected }: Args, context: ToolContext) {
  const current = await readExisting(path, context, MAX_FILE_BYTES);
  if (current?.truncated) {
    throw new ToolError('E_FILE_IO', `File is too large to edit: ${path}`, {
      path,
      details: {
        reason: 'too_large',
        limit_bytes: MAX_FILE_BYTES,
        next: 'Split the file, or change it with a command',
      },
    });
  }
  const actual = current?.sha256 ?? null;
  if (expected !== undefined && expected !== actual) throw changedMeanwhile(path, { expected, actual });
  return current;
}

function decode({ bytes }: FileContent, path: string): { readonly text: string; readonly encoding: TextEncoding } {
  const { encoding } = detectEncoding(bytes);
  const text = encoding === 'binary' ? undefined : decodeText(bytes, encoding);
  if (text !== undefined && encoding !== 'binary') return { text, encoding };
  throw new ToolError('E_FILE_IO', `File is not text: ${path}`, {
    path,
    details: { reason: 'binary', next: 'Replace it with file_write and encoding base64' },
  });
}

function encoded(text: string, encoding: TextEncoding, path: string): Buffer {
  const bytes = encodeText(text, encoding);
  if (bytes !== undefined) return bytes;
  throw new ToolError('E_FILE_IO', `New text cannot be written as ${encoding}: ${path}`, {
    path,
    details: { reason: 'encoding', next: 'Leave out characters the encoding does not have, or convert the file first' },
  });
}

interface Applied {
  readonly after: string;
  readonly placed: readonly Placed[];
}

function applyEdits(text: string, edits: readonly Edit[], wanted: Args): Applied {
  const placed: Placed[] = [];
  let after = text;
  for (const [at, edit] of edits.entries()) {
    const { result, ...place } = applyEdit(after, edit, { wanted, number: at + 1 });
    after = result;
    placed.push(place);
  }
  return { after, placed };
}

interface Asked {
  readonly wanted: Args;
  readonly number: number;
}

function applyEdit(text: string, edit: Edit, { wanted, number }: Asked): Placed & { readonly result: string } {
  const { path } = wanted;
  if (edit.old === '') throw emptyOld(path, number);
  if (edit.old === edit.new) throw sameText(path, number);
  refusePlaceholder(edit, { path, edit: number });
  const miss = { path, edit: number, wanted: edit };
  const hits = findPlaces(text, edit);
  if (hits === undefined || (wanted.exact === true && hits.match !== 'exact')) throw notFound(text, miss);
  const chosen = edit.all === true ? hits.places : choose(text, hits.places, edit.near_line);
  if (chosen === undefined) throw ambiguous(text, miss, hits);
  const [first] = chosen;
  return { result: replaced(text, chosen), ...linesOf(text, first as Place), match: hits.match, places: chosen.length };
}

/** Undefined when it is not clear which one is meant. */
function choose(text: string, places: readonly Place[], near: number | undefined): readonly Place[] | undefined {
  if (places.length === 1) return places;
  if (near === undefined) return undefined;
  const distances = places.map(({ start }) => Math.abs(lineAt(text, start) - near));
  const least = Math.min(...distances);
  const nearest = places.filter((_, at) => distances[at] === least);
  return nearest.length === 1 ? nearest : undefined;
}

function replaced(text: string, places: readonly Place[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, text: now } of places) {
    result += text.slice(from, start) + now;
    from = end;
  }
  return result + text.slice(from);
}

function linesOf(text: string, { start, end }: Place): { readonly line: number; readonly end_line: number } {
  return { line: lineAt(text, start), end_line: lineAt(text, Math.max(start, end - 1)) };
}

function create(wanted: Args, edits: readonly Edit[], context: ToolContext): Promise<Data> {
  const [only, ...others] = edits;
  if (only === undefined || only.old !== '' || others.length > 0) {
    throw new ToolError('E_FILE_IO', `File not found: ${wanted.path}`, {
      path: wanted.path,
      details: { reason: 'ENOENT', next: 'Check the spelling; to create the file, give one edit with an empty old' },
    });
  }
  const bytes = Buffer.from(only.new, 'utf8');
  const placed: Placed[] = [{ line: 1, end_line: 1, match: 'exact', places: 1 }];
  return write(wanted, { bytes, placed, diff: lineDiff('', only.new), before: null }, context);
}

interface Outcome {
  readonly bytes: Buffer;
  readonly placed: readonly Placed[];
  readonly diff: string;
  readonly before: string | null;
}

async function write(wanted: Args, { bytes, placed, diff, before }: Outcome, context: ToolContext): Promise<Data> {
  const isDry = wanted.dry_run === true;
  const sha256 = isDry ? sha256Hex(bytes) : await store(wanted.path, { bytes, before }, context);
  return {
    changed: sha256 !== before,
    created: before === null,
    dry_run: isDry,
    edits: [...placed],
    diff: diff.length > MAX_DIFF_CHARS ? `${diff.slice(0, MAX_DIFF_CHARS)}…\n` : diff,
    bytes: bytes.length,
    sha256,
    before_sha256: before,
  };
}

async function store(
  path: string,
  { bytes, before }: { readonly bytes: Buffer; readonly before: string | null },
  { workspace }: ToolContext,
): Promise<string> {
  const how = before === null ? { exclusive: true, createDirs: true } : { expectedSha256: before };
  const { after } = await workspace.writeFile(path, bytes, how);
  if (after === null || after.sha256 === null) {
    throw new ToolError('E_INTERNAL', `File vanished while it was written: ${path}`, { path });
  }
  return after.sha256;
}

/** Refusals quote lines of the file and are recorded: they lose known secrets. */
function explaining<T>({ redact }: ToolContext, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const hide = (value: unknown): unknown => {
      if (typeof value === 'string') return redact(value);
      if (Array.isArray(value)) return value.map(hide);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]));
    };
    throw new ToolError(thrown.code, redact(thrown.message), {
      ...(thrown.path === undefined ? {} : { path: thrown.path }),
      details: hide(thrown.details) as JsonObject,
      cause: thrown,
    });
  }
}

function emptyOld(path: string, edit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Edit ${edit} has nothing to look for, and the file exists: ${path}`, {
    path,
    details: { edit, reason: 'empty_old', next: 'Give the text to replace, or use file_write with append' },
  });
}

function sameText(path: string, edit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Edit ${edit} replaces a text by itself: ${path}`, {
    path,
    details: { edit, reason: 'no_change', next: 'Leave the edit out, or change new' },
  });
}

function presentEdited({ edits, changed, created, dry_run, bytes, sha256, diff }: Data, { path }: Args): ToolText {
  const done = created ? 'created' : 'edited';
  const what = changed ? (dry_run ? `not ${done} (dry run)` : done) : 'unchanged';
  const places = edits.map(({ line, match, places: count }) => {
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return `line ${line}${more}${match === 'exact' ? '' : ` (${match} match)`}`;
  });
  const head = `${what} ${shownName(path)}: ${places.join(', ')}; ${bytes} bytes, sha256 ${sha256}`;
  return { head, parts: diff === '' ? [] : [{ type: 'text', text: diff }] };
}
