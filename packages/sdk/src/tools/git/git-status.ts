/**
 * git_status: branch, distance to its upstream, what is under way and every change, in one run of git.
 *
 * Everything a repository's configuration could change about the answer is set on the command line.
 */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { findInProgress, parseStatus, STATES, type StatusEntry } from '../../git/parse-status.ts';
import { counted, shortHash, shownName } from '../../present/rows.ts';
import { READ_GIT } from './git-annotations.ts';

const MAX_CHANGES = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

const WORDS: readonly string[] = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--ahead-behind',
  '--show-stash',
  '--find-renames',
  '--ignore-submodules=dirty',
];

const args = z.strictObject({
  porcelain: z.boolean().default(true).describe('Git status letters; false: words such as modified'),
  untracked: z.boolean().default(true).describe('List untracked files'),
});

const data = z.strictObject({
  branch: z.string().nullable().describe('Null when HEAD is detached'),
  head: z.string().nullable().describe('Commit hash; null before the first commit'),
  detached: z.boolean(),
  upstream: z.string().nullable(),
  ahead: z.int().nullable().describe('Commits that the upstream does not have; null without an upstream'),
  behind: z.int().nullable().describe('Commits that only the upstream has; null without an upstream'),
  changes: z.array(
    z.strictObject({
      path: z.string(),
      status: z.string().describe('Letters of index and work tree without spaces (M, A, MM, ??, UU), or words'),
      staged: z.boolean().describe('The index differs from HEAD'),
      unstaged: z.boolean().describe('The work tree differs from the index'),
      from: z.string().optional().describe('Former name of a renamed or copied file'),
      submodule: z.literal(true).optional().describe('A submodule whose commit changed'),
    }),
  ),
  clean: z.boolean(),
  in_progress: z.enum(STATES).nullable().describe('What git waits for to be continued or aborted'),
  stashes: z.int().describe('Number of stashes'),
  truncated: z.boolean().describe(`There are more than ${MAX_CHANGES} changes`),
});

export const gitStatus = defineTool({
  name: 'git_status',
  category: 'git',
  title: 'Git status',
  summary: 'Show branch and changed files',
  policyNotes: 'Read-only; changes inside submodules are not looked at',
  args,
  data,
  annotations: READ_GIT,
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  hasLargeAnswers: true,
  present: presentStatus,
  async run({ porcelain, untracked }, { git }) {
    const [{ stdout, isCut = false }, in_progress] = await Promise.all([
      git.run({
        words: [...WORDS, `--untracked-files=${untracked ? 'all' : 'no'}`],
        access: 'read',
        maxBytes: MAX_BYTES,
        overflow: 'cut',
      }),
      findInProgress(git.files),
    ]);
    const text = stdout.toString('utf8');
    const report = parseStatus(text.slice(0, text.lastIndexOf('\0') + 1));
    const { branch, head, upstream, ahead, behind, entries, stashes } = report;
    return {
      branch,
      head,
      detached: branch === null,
      upstream,
      ahead,
      behind,
      changes: entries.slice(0, MAX_CHANGES).map((entry) => change(entry, porcelain)),
      clean: entries.length === 0,
      in_progress,
      stashes,
      truncated: isCut || entries.length > MAX_CHANGES,
    };
  },
});

function change(entry: StatusEntry, porcelain: boolean) {
  const { path, index, worktree, from, kind, submodule } = entry;
  return {
    path,
    status: porcelain ? `${index}${worktree}`.replaceAll('.', '') : wordsFor(entry),
    staged: kind === 'tracked' && index !== '.',
    unstaged: kind !== 'tracked' || worktree !== '.',
    ...(from === undefined ? {} : { from }),
    ...(submodule === true ? { submodule } : {}),
  };
}

const LETTERS: Readonly<Record<string, string>> = {
  M: 'modified',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type changed',
};

function wordsFor({ kind, index, worktree }: StatusEntry): string {
  if (kind !== 'tracked') return kind;
  const known = [
    ...new Set([index, worktree].filter((letter) => letter !== '.').map((letter) => LETTERS[letter] ?? letter)),
  ];
  return known.join(', ');
}

function presentStatus(status: z.output<typeof data>): ToolText {
  const { branch, head, upstream, ahead, behind, changes, in_progress, stashes, truncated } = status;
  const distance = upstream === null ? '' : `, ${upstream}: ${ahead} ahead, ${behind} behind`;
  const rows = changes.map(({ path, from, status: letters, staged, unstaged }) => {
    const where = staged && unstaged ? 'staged and unstaged' : staged ? 'staged' : 'unstaged';
    const name = from === undefined ? shownName(path) : `${shownName(from)} → ${shownName(path)}`;
    return `${letters.padEnd(2)} ${name} (${where})`;
  });
  return {
    head: [
      `on ${branch ?? 'no branch'} at ${shortHash(head)}${distance}${changes.length === 0 ? ', clean' : ''}`,
      ...(in_progress === null ? [] : [`in progress: ${in_progress}`]),
      ...(stashes === 0 ? [] : [counted(stashes, 'stash', 'stashes')]),
      ...(truncated ? ['there are more changes than these'] : []),
    ].join('\n'),
    parts: [{ type: 'text', text: rows, rest: () => callText('git_diff', { stat: true }) }],
  };
}
