/**
 * file_edit: texts of one or several files replaced by others, all of them or none.
 *
 * Each edit sees the file as the one before left it. An edit needs exactly one place; how exactly its old text must fit
 * is a ladder of levels, and the answer names the level that was needed. Several files are written in one commit.
 */
import { z } from 'zod';
import { resolveDots } from '../../contracts/path-text.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { shownName } from '../../present/rows.ts';
import { MATCH_LEVELS } from '../../text/edit-ladder.ts';
import { type EditedFile, type FileEdits, planEdit, type TextEdit } from './file-edit/plan-edit.ts';
import { writeAll } from './write-all.ts';

const MAX_EDITS = 100;
const MAX_DIFF_CHARS = 4096;
/** Of all files together; each has its share. */
const MAX_DIFFS_CHARS = 65_536;

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
    path: z.string().min(1).optional().describe('File to edit, relative to the workspace root'),
    old: edit.old.optional().describe('Text to replace, copied from the file; empty to create the file'),
    new: edit.new.optional().describe('Text to put in its place'),
    all: edit.all.describe('Replace every place'),
    near_line: edit.near_line.describe('Of several places take the nearest'),
    edits: z
      .array(z.strictObject({ path: z.string().optional(), ...edit, expected_sha256: z.string().optional() }))
      .min(1)
      .max(MAX_EDITS)
      .optional()
      .describe('Edits in order, in place of old and new; path for other files'),
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
  })
  .refine(({ path, edits }) => path !== undefined || edits?.every((one) => one.path !== undefined) === true, {
    path: ['path'],
    message: 'give path, or a path in each of edits',
  })
  .refine(({ path, edits, expected_sha256: expected }) => expected === undefined || isEdited(path, edits), {
    path: ['expected_sha256'],
    message: 'expected_sha256 is about path, which no edit is for; give it in edits',
  });

function isEdited(path: string | undefined, edits: readonly { path?: string | undefined }[] = [{}]): boolean {
  return edits.some((one) => one.path === undefined || plainName(one.path) === plainName(path ?? ''));
}

function plainName(path: string): string {
  return resolveDots(path)?.join('/') ?? path;
}

const placedEdits = z.array(
  z.strictObject({
    line: z.int().describe('First line of the replaced text, in the file as this edit found it'),
    end_line: z.int(),
    match: z.enum(MATCH_LEVELS).describe('How closely the old text fitted'),
    places: z.int().describe('Places replaced; 1 unless all was given'),
  }),
);

const data = z.strictObject({
  changed: z.boolean().describe('False when the file is the same as before'),
  created: z.boolean().describe('True when there was no such file'),
  dry_run: z.boolean().describe('True when nothing was written'),
  edits: placedEdits.describe('Where each edit went; empty for several files'),
  diff: z.string().describe('What changed, cut after 4,096 characters; of several files each has its share of 65,536'),
  bytes: z.int().describe('Size of the file now'),
  sha256: z.string().nullable().describe('Hex digest of the file now; with dry_run what it would be'),
  before_sha256: z.string().nullable().describe('Hex digest of the file before; null when it was created'),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        changed: z.boolean(),
        created: z.boolean(),
        edits: placedEdits,
        bytes: z.int(),
        sha256: z.string(),
        before_sha256: z.string().nullable(),
      }),
    )
    .exactOptional()
    .describe('What became of each file, when edits name them; the fields above are then sums, and the digests null'),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;

export const fileEdit = defineTool({
  name: 'file_edit',
  category: 'fs',
  title: 'Edit file',
  summary: 'Replace texts in files inside the workspace',
  policyNotes:
    'Paths that leave the workspace, `.git` and the registry file are refused, as is a text that fits several places',
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
    },
    capabilities: { workspace: ['write_text'] },
  },
  effect: 'write',
  risk: 'medium',
  profile: ({ dry_run: isDry }) =>
    isDry === true ? { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' } : {},
  pathsInText: ({ edits = [] }) =>
    edits.flatMap(({ path }) => (path === undefined ? [] : [{ key: 'path', value: path }])),
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
    const edited: EditedFile[] = [];
    for (const file of filesOf(wanted)) edited.push(await planEdit(file, wanted, context));
    const done = wanted.dry_run === true ? edited.map(digested) : await writeChanged(edited, context);
    const isOne = wanted.edits?.every(({ path }) => path === undefined) ?? true;
    return isOne ? ofOne(done[0] as DoneFile, wanted) : ofAll(done, wanted);
  },
});

/** By file, in the order in which the edits name them. */
function filesOf({ path: ownPath = '', edits, expected_sha256: expected, ...one }: Args): readonly FileEdits[] {
  const { old = '', new: text = '', all, near_line } = one;
  const files = new Map<string, { path: string; edits: TextEdit[]; expected: Set<string> }>();
  for (const { path = ownPath, expected_sha256, ...edit } of edits ?? [{ old, new: text, all, near_line }]) {
    const file = files.get(plainName(path)) ?? { path, edits: [], expected: new Set() };
    files.set(plainName(path), file);
    file.edits.push(edit);
    if (expected_sha256 !== undefined) file.expected.add(expected_sha256);
  }
  if (expected !== undefined) files.get(plainName(ownPath))?.expected.add(expected);
  return [...files.values()];
}

interface DoneFile extends EditedFile {
  readonly sha256: string;
}

function digested(file: EditedFile): DoneFile {
  return { ...file, sha256: sha256Hex(file.plan.after) };
}

/** Who writes a file digests it, for the record. */
async function writeChanged(edited: readonly EditedFile[], context: ToolContext): Promise<readonly DoneFile[]> {
  const changed = edited.filter(({ isChanged }) => isChanged);
  const changes = await writeAll(
    changed.map(({ plan }) => plan),
    context,
  );
  return edited.map((file) => {
    const sha256 = file.isChanged ? changes[changed.indexOf(file)]?.after?.sha256 : file.before;
    return typeof sha256 === 'string' ? { ...file, sha256 } : digested(file);
  });
}

function ofOne({ placed, diff, bytes, sha256, before }: DoneFile, { dry_run: isDry = false }: Args): Data {
  return {
    changed: sha256 !== before,
    created: before === null,
    dry_run: isDry,
    edits: placed,
    diff: cut(diff, MAX_DIFF_CHARS),
    bytes,
    sha256,
    before_sha256: before,
  };
}

function ofAll(edited: readonly DoneFile[], { dry_run: isDry = false }: Args): Data {
  const share = Math.min(MAX_DIFF_CHARS, Math.floor(MAX_DIFFS_CHARS / edited.length));
  const files = edited.map(({ path, placed, bytes, sha256, before }) => ({
    path,
    changed: sha256 !== before,
    created: before === null,
    edits: placed,
    bytes,
    sha256,
    before_sha256: before,
  }));
  return {
    changed: files.some(({ changed }) => changed),
    created: files.some(({ created }) => created),
    dry_run: isDry,
    edits: [],
    diff: edited.map((file) => namedDiff(file, share)).join(''),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    sha256: null,
    before_sha256: null,
    files,
  };
}

function namedDiff({ path, diff, before }: EditedFile, share: number): string {
  if (diff === '') return '';
  const name = shownName(path);
  return `--- ${before === null ? '/dev/null' : `a/${name}`}\n+++ b/${name}\n${cut(diff, share)}`;
}

function cut(diff: string, most: number): string {
  return diff.length > most ? `${diff.slice(0, most)}…\n` : diff;
}

function presentEdited({ files, diff, ...one }: Data, { path = '' }: Args): ToolText {
  const rows = files ?? [{ ...one, path, sha256: one.sha256 ?? '' }];
  return {
    head: rows.map((row) => presentFile(row, one.dry_run)).join('\n'),
    parts: diff === '' ? [] : [{ type: 'text', text: diff }],
  };
}

type FileRow = Omit<NonNullable<Data['files']>[number], 'before_sha256'>;

function presentFile({ path, edits: placed, changed, created, bytes, sha256 }: FileRow, isDry: boolean): string {
  const done = created ? 'created' : 'edited';
  const what = changed ? (isDry ? `not ${done} (dry run)` : done) : 'unchanged';
  const places = placed.map(({ line, match, places: count }) => {
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return `line ${line}${more}${match === 'exact' ? '' : ` (${match} match)`}`;
  });
  return `${what} ${shownName(path)}: ${places.join(', ')}; ${bytes} bytes, sha256 ${sha256}`;
}
