/** git_conflicts: what git is in the middle of, and every unmerged file with its three sides and open conflicts. */
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import type { FileContent, Workspace } from '../../contracts/workspace.ts';
import { type ConflictHunk, parseConflictMarkers } from '../../git/parse-conflict-markers.ts';
import { findInProgress, STATES } from '../../git/parse-status.ts';
import { counted, shownName } from '../../present/rows.ts';
import { CONFLICT_KINDS, parseUnmerged, readSides } from './conflict-sides.ts';
import { READ_GIT } from './git-annotations.ts';
import { paths, pathspecsOf } from './git-arguments.ts';

const MAX_FILES = 1000;

const args = z.strictObject({
  paths: paths.default([]).describe('Only these files, folders or globs'),
  max_bytes: z
    .int()
    .min(0)
    .max(1024 * 1024)
    .default(64 * 1024)
    .describe('Sides longer than this come without their text; 0: no texts at all'),
});

const side = z
  .strictObject({
    mode: z.string(),
    blob: z.string().describe('Hash of the content'),
    size: z.int(),
    text: z.string().optional().describe('Left out when it is binary or too long'),
  })
  .nullable()
  .describe('Null when this side has no such file');

const hunk = z.strictObject({
  start_line: z.int().describe('Line of the first marker, from 1'),
  end_line: z.int().describe('Line of the last marker'),
  ours: z.string(),
  base: z.string().nullable().describe('Null unless merge.conflictStyle makes git write it'),
  theirs: z.string(),
});

const data = z.strictObject({
  in_progress: z
    .enum(STATES)
    .nullable()
    .describe('In a rebase ours is what is rebased onto, theirs the commit replayed'),
  files: z.array(
    z.strictObject({
      path: z.string(),
      kind: z.enum(CONFLICT_KINDS),
      base: side,
      ours: side,
      theirs: side,
      hunks: z.array(hunk).readonly().describe("Conflicts marked in the work tree's file; none left: it can be staged"),
      hunks_truncated: z.literal(true).optional().describe('The file is too long, or has more conflicts than these'),
      binary: z.boolean(),
    }),
  ),
  total_files: z.int(),
  truncated: z.boolean().describe(`There are more than ${MAX_FILES} files`),
});

export const gitConflicts = defineTool({
  name: 'git_conflicts',
  category: 'git',
  title: 'Git conflicts',
  summary: 'List unmerged files with all sides and conflict hunks',
  policyNotes: 'Read-only',
  args,
  data,
  annotations: { ...READ_GIT, arg_schema: { path_params: ['paths'], set_params: ['paths'] } },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  hasLargeAnswers: true,
  present: presentConflicts,
  async run(wanted, { git, workspace }) {
    const [in_progress, unmerged] = await Promise.all([
      findInProgress(git.files),
      pathspecsOf(wanted.paths, workspace).then((specs) =>
        git.run({ words: ['ls-files', '--unmerged', '-z', '--', ...specs], access: 'read' }),
      ),
    ]);
    const all = parseUnmerged(unmerged.stdout.toString('utf8'));
    const chosen = all.slice(0, MAX_FILES);
    const sides = await readSides(git, chosen, wanted.max_bytes);
    const files = [];
    for (const { path, kind, stages } of chosen) {
      const [base, ours, theirs] = stages.map((stage) => (stage === null ? null : sides.of(stage)));
      const { binary, ...marked } = await openHunks(path, workspace);
      const isBinary = binary || stages.some((stage) => stage !== null && sides.isBinary(stage));
      files.push({
        path,
        kind,
        base: base ?? null,
        ours: ours ?? null,
        theirs: theirs ?? null,
        ...marked,
        binary: isBinary,
      });
    }
    return { in_progress, files, total_files: all.length, truncated: all.length > MAX_FILES };
  },
});

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_HUNKS = 200;
/** As git itself decides. */
const SAMPLE_BYTES = 8000;

interface OpenHunks {
  readonly hunks: readonly ConflictHunk[];
  readonly hunks_truncated?: true;
  readonly binary: boolean;
}

type Reader = Pick<Workspace, 'stat' | 'readFile'>;

/** The conflicts still marked in a file of the work tree. */
async function openHunks(path: string, workspace: Reader): Promise<OpenHunks> {
  const content = await contentOf(path, workspace);
  if (content === undefined) return { hunks: [], binary: false };
  const bytes = Buffer.from(content.bytes.buffer, content.bytes.byteOffset, content.bytes.byteLength);
  if (bytes.subarray(0, SAMPLE_BYTES).includes(0)) return { hunks: [], binary: true };
  const hunks = parseConflictMarkers(bytes.toString('utf8'));
  const isPart = content.truncated || hunks.length > MAX_HUNKS;
  return { hunks: hunks.slice(0, MAX_HUNKS), ...(isPart ? { hunks_truncated: true } : {}), binary: false };
}

/** Undefined where there is no regular file: a side deleted it, or made it a link or folder. */
async function contentOf(path: string, workspace: Reader): Promise<FileContent | undefined> {
  try {
    const stat = await workspace.stat(path);
    return stat?.type === 'file' ? await workspace.readFile(path, { maxBytes: MAX_BYTES }) : undefined;
  } catch (thrown) {
    // Not readable, or a name only git can open.
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}

function presentConflicts({ in_progress, files, total_files, truncated }: z.output<typeof data>): ToolText {
  const head = `${in_progress ?? 'nothing'} in progress, ${counted(total_files, 'unmerged file')}${truncated ? ', not all shown' : ''}`;
  const texts = files.map(({ path, kind, hunks, binary }) => {
    const shown = hunks.map(({ start_line, end_line, ours, base, theirs }) =>
      [
        `  lines ${start_line} to ${end_line}`,
        ...['<<<<<<< ours', ...linesOf(ours)],
        ...(base === null ? [] : ['||||||| base', ...linesOf(base)]),
        ...['=======', ...linesOf(theirs)],
        '>>>>>>> theirs',
      ].join('\n'),
    );
    const note = binary ? ', binary' : hunks.length === 0 ? ', no markers left: it can be staged' : '';
    return [`${shownName(path)}: ${kind}${note}`, ...shown].join('\n');
  });
  const rest = ({ items }: { readonly items: number }): string =>
    callText('file_read', { path: files[items]?.path ?? '.' });
  const oneSide = in_progress === 'merge' && files.length > 0 ? `\n${TAKE_ONE_SIDE}` : '';
  return { head: `${head}${oneSide}`, parts: [{ type: 'text', text: texts, rest }] };
}

const TAKE_ONE_SIDE =
  'to take one side whole: git_restore with source HEAD (ours) or MERGE_HEAD (theirs), then git_add; otherwise edit the files';

/** Without the line break at the end, which the next line brings. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : [text.replace(/\n$/, '')];
}
