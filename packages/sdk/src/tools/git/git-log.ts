/** git_log: commits of a revision or range, newest first, filtered by path, author, date or message. */
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { COMMIT_WORDS, parseCommits } from '../../git/parse-history.ts';
import { findObjects, parseRange, resolveRevisions } from '../../git/resolve-revisions.ts';
import { counted, shortHash } from '../../present/rows.ts';
import { READ_GIT } from './git-annotations.ts';
import { commitShape, exactNames, paths, pathspecsOf, plainText, revision } from './git-arguments.ts';

const ABSOLUTE =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?$/;
const RELATIVE = /^(?:now|today|yesterday|\d{1,6}[ .](?:second|minute|hour|day|week|month|year)s?[ .]ago)$/;

export const dateWords = z.string().refine((text) => ABSOLUTE.test(text) || RELATIVE.test(text), {
  error: 'a date (2026-01-31), a date with time (2026-01-31T08:00:00Z) or words such as "2 weeks ago"',
});

/** To git a bare date means that day at this time of the day; to people it means the whole day. */
export function gitDate(text: string, end: 'since' | 'until'): string {
  const isBareDay = /^\d{4}-\d\d-\d\d$/.test(text);
  if (isBareDay) return `${text}T${end === 'since' ? '00:00:00' : '23:59:59'}`;
  if (text === 'today') return end === 'since' ? 'midnight' : 'now';
  return text;
}

const MAX_BYTES = 16 * 1024 * 1024;

const args = z.strictObject({
  ref: revision
    .default('HEAD')
    .describe('Where to begin; a..b: commits of b that a lacks; a...b: commits only one has'),
  max: z.int().min(1).max(1000).default(50).describe('Commits at most'),
  skip: z.int().min(0).max(1_000_000).default(0).describe('Commits to skip first'),
  paths: paths.default([]).describe('Only commits that changed one of these files, folders or globs'),
  author: plainText.optional().describe("Part of the author's name or address; plain text, not a pattern"),
  since: dateWords.optional().describe('Committed on or after: 2026-01-31, 2026-01-31T08:00:00Z or "2 weeks ago"'),
  until: dateWords.optional().describe('Committed on or before'),
  grep: plainText.optional().describe('Part of the message; plain text, not a pattern'),
  first_parent: z.boolean().default(false).describe('Follow only the first parent of merges'),
  follow: z.boolean().default(false).describe('Follow renames; needs exactly one file in paths'),
});

const data = z.strictObject({
  commits: z.array(z.strictObject(commitShape)),
  truncated: z.boolean().describe('There are more; ask again with skip'),
});

type Args = z.output<typeof args>;

export const gitLog = defineTool({
  name: 'git_log',
  category: 'git',
  title: 'Git log',
  summary: 'Show the history: commits with author, date and message',
  policyNotes: 'Read-only; author and grep are plain text, not patterns',
  args,
  data,
  annotations: {
    ...READ_GIT,
    arg_schema: {
      path_params: ['paths'],
      set_params: ['paths'],
      arg_aliases: { rev: 'ref', revision: 'ref', limit: 'max' },
    },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  hasLargeAnswers: true,
  present: presentLog,
  async run(wanted, { git, workspace }) {
    const [tips, specs] = await Promise.all([tipsOf(git, wanted.ref), pathspecsFor(wanted, workspace)]);
    const {
      code,
      stdout,
      stderr,
      isCut = false,
    } = await git.run({
      words: ['log', '-z', ...COMMIT_WORDS, ...filters(wanted), ...tips, '--', ...specs],
      access: 'read',
      maxBytes: MAX_BYTES,
      overflow: 'cut',
      accept: [0, 128],
    });
    if (code !== 0) return nothingYet(git, tips, stderr);
    // The last one has no NUL behind it.
    const commits = parseCommits(`${stdout.toString('utf8')}${isCut ? '' : '\0'}`);
    return { commits: commits.slice(0, wanted.max), truncated: isCut || commits.length > wanted.max };
  },
});

/** HEAD is our own word and needs no look-up. */
async function tipsOf(git: GitRepository, rev: string): Promise<readonly string[]> {
  if (rev === 'HEAD') return ['HEAD'];
  const range = parseRange(rev);
  const sides = range === undefined ? [rev] : [range.from, range.to];
  const hashes = await resolveRevisions(
    git,
    sides.map((text) => ({ text, argument: 'ref' })),
  );
  if (range === undefined) return hashes;
  return [hashes.join(range.symmetric ? '...' : '..')];
}

/** Where HEAD is not born yet, no commits is the answer. */
async function nothingYet(git: GitRepository, tips: readonly string[], stderr: string) {
  const [head] = await findObjects(git, ['HEAD']);
  if (head === undefined && tips.includes('HEAD')) return { commits: [], truncated: false };
  throw gitFailure('Git log failed', {
    reason: 'git_failed',
    next: 'read the message of git in details.stderr',
    details: { stderr: stderr.slice(0, 4000) },
  });
}

async function pathspecsFor(
  { paths: named, follow }: Args,
  workspace: Parameters<typeof pathspecsOf>[1],
): Promise<readonly string[]> {
  const isOneFile = named.length === 1 && (await exactNames(named, workspace)).size === 1;
  if (!follow || isOneFile) return pathspecsOf(named, workspace);
  throw gitFailure('Renames can be followed for exactly one file', {
    path: 'follow',
    reason: 'bad_follow',
    next: 'name one file in paths, or leave out follow',
  });
}

function filters(wanted: Args): readonly string[] {
  const { max, skip, author, grep, since, until, first_parent, follow } = wanted;
  return [
    `--max-count=${max + 1}`,
    `--skip=${skip}`,
    '--fixed-strings',
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(grep === undefined ? [] : [`--grep=${grep}`]),
    ...(since === undefined ? [] : [`--since=${gitDate(since, 'since')}`]),
    ...(until === undefined ? [] : [`--until=${gitDate(until, 'until')}`]),
    ...(first_parent ? ['--first-parent'] : []),
    follow ? '--follow' : '--no-follow',
  ];
}

function presentLog(
  { commits, truncated }: z.output<typeof data>,
  { ref, max, skip, paths: only }: z.output<typeof args>,
): ToolText {
  if (commits.length === 0) return { head: 'no commits' };
  const next = (count: number): string =>
    callText('git_log', { ref, max, skip: skip + count, ...(only.length === 0 ? {} : { paths: only }) });
  const rows = commits.map(({ hash, author, subject, body, refs }) => {
    const names = refs.length === 0 ? '' : ` (${refs.join(', ')})`;
    const text = body.trim();
    const below = text === '' ? '' : `\n${text.replace(/^/gm, '    ')}`;
    return `${shortHash(hash)} ${author.date.slice(0, 10)} ${author.name}: ${subject}${names}${below}`;
  });
  return {
    head: counted(commits.length, 'commit') + (truncated ? `; more: ${next(commits.length)}` : ''),
    parts: [{ type: 'text', text: rows, rest: ({ items }) => next(items) }],
  };
}
