/** git_blame: which commit last changed each line of a file, as runs of lines. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { parseBlame } from '../../git/parse-history.ts';
import { cleanPath } from '../../git/pathspec.ts';
import { resolveRevision } from '../../git/resolve-revisions.ts';
import { counted, shortHash, shownName } from '../../present/rows.ts';
import { READ_GIT } from './git-annotations.ts';
import { revision } from './git-arguments.ts';

const MAX_GROUPS = 20_000;

const args = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace root'),
  ref: revision.nullable().default('HEAD').describe('File at this revision; null: the file as it is in the work tree'),
  start_line: z.int().min(1).optional(),
  end_line: z.int().min(1).optional(),
});

const data = z.strictObject({
  path: z.string(),
  groups: z
    .array(
      z.strictObject({
        commit: z.string().nullable().describe('Null for lines that are not committed'),
        author: z.string().nullable(),
        email: z.string().nullable(),
        date: z.string().nullable().describe("ISO 8601 with the author's offset"),
        summary: z.string().nullable().describe("First line of the commit's message"),
        from_line: z.int().describe('First line of the run, from 1'),
        lines: z.int().describe('Number of lines of the run'),
        path: z.string().describe('Name of the file in that commit'),
        original_line: z.int().describe('First line of the run in that commit'),
        previous: z
          .strictObject({ commit: z.string(), path: z.string() })
          .optional()
          .describe('Where the file was before that commit'),
        boundary: z
          .literal(true)
          .optional()
          .describe('No earlier history is here: the first commit, or where a shallow clone ends'),
      }),
    )
    .describe('By line; file_read and git_show have the text'),
  truncated: z.boolean(),
});

export const gitBlame = defineTool({
  name: 'git_blame',
  category: 'git',
  title: 'Git blame',
  summary: 'Show which commit last changed each line of a file',
  policyNotes: 'Read-only',
  args,
  data,
  annotations: {
    ...READ_GIT,
    arg_schema: {
      path_params: ['path'],
      arg_aliases: { file: 'path', rev: 'ref', revision: 'ref' },
      required: ['path'],
    },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  hasLargeAnswers: true,
  present: presentBlame,
  async run({ path, ref, start_line, end_line }, { git }) {
    if (start_line !== undefined && end_line !== undefined && end_line < start_line) throw noLines();
    const plain = cleanPath(path);
    const hash = ref === null ? [] : [await resolveRevision(git, ref, 'ref')];
    const isPart = start_line !== undefined || end_line !== undefined;
    const { stdout } = await git.run({
      words: [
        'blame',
        '--incremental',
        '--no-textconv',
        '--encoding=UTF-8',
        ...(isPart ? ['-L', `${start_line ?? 1},${end_line ?? ''}`] : []),
        ...hash,
        '--',
        plain,
      ],
      access: 'read',
    });
    const groups = parseBlame(stdout.toString('utf8'));
    return { path: plain, groups: groups.slice(0, MAX_GROUPS), truncated: groups.length > MAX_GROUPS };
  },
});

function noLines() {
  return gitFailure('`end_line` is before `start_line`', {
    path: 'end_line',
    reason: 'bad_range',
    next: 'give an `end_line` that is not less than `start_line`',
  });
}

function presentBlame({ path, groups, truncated }: z.output<typeof data>, { ref }: z.output<typeof args>): ToolText {
  const rows = groups.map(({ from_line, lines, commit, author, date, summary }) => {
    const range = lines === 1 ? `${from_line}` : `${from_line}-${from_line + lines - 1}`;
    if (commit === null) return `${range}: not committed`;
    return `${range}: ${shortHash(commit)} ${date?.slice(0, 10) ?? ''} ${author ?? ''}: ${summary ?? ''}`;
  });
  const from = (line: number): string => callText('git_blame', { path, ref, start_line: line });
  const last = groups.at(-1);
  const more = truncated && last !== undefined ? `; more: ${from(last.from_line + last.lines)}` : '';
  return {
    head: `${shownName(path)}: ${counted(groups.length, 'run')} of lines${more}`,
    parts: [{ type: 'text', text: rows, rest: ({ items }) => from(groups[items]?.from_line ?? 1) }],
  };
}
