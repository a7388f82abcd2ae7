/**
 * git_diff: what differs between two revisions, a revision and the work tree, or a revision and the index.
 *
 * One run of git gives the list, the counts and the patch. HEAD is not resolved first; where it is not born yet the
 * empty tree replaces it.
 */
import { z } from 'zod';
import type { GitOutput, GitRepository } from '../../contracts/git.ts';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { emptyTree, findObjects, parseRange, resolveRevisions } from '../../git/resolve-revisions.ts';
import { counted, fileRows, patchPart } from '../../present/rows.ts';
import { READ_GIT } from './git-annotations.ts';
import { paths, pathspecsOf, revision } from './git-arguments.ts';
import {
  contextLines,
  DIFF_WORDS,
  LIST_BYTES,
  listedFiles,
  MAX_FILES,
  maxBytes,
  patchFile,
  patchText,
  readDiff,
} from './patch-text.ts';

const args = z.strictObject({
  ref: revision.default('HEAD').describe('Compared with the work tree; a..b and a...b compare two revisions'),
  paths: paths.default([]),
  staged: z.boolean().default(false).describe('Compare with the index instead of the work tree'),
  to: revision.optional().describe('Compare with this revision instead'),
  context_lines: contextLines,
  stat: z.boolean().default(false).describe('Only files and counts'),
  max_bytes: maxBytes,
});

const data = z.strictObject({
  patch: z.string().describe('Unified diff; untracked files are not in it'),
  files: z.array(patchFile).describe(`At most ${MAX_FILES}`),
  total_files: z.int(),
  truncated: z.boolean().describe('The patch is longer than max_bytes and was cut after a whole line'),
  lossy: z.literal(true).optional().describe('Bytes of the patch that are not UTF-8 were replaced'),
});

type Args = z.output<typeof args>;

export const gitDiff = defineTool({
  name: 'git_diff',
  category: 'git',
  title: 'Git diff',
  summary: 'Show changes as a patch',
  policyNotes: 'Read-only; untracked files are not in it (git_add them, or see git_status); submodules by hash only',
  args,
  data,
  annotations: {
    ...READ_GIT,
    arg_schema: {
      path_params: ['paths'],
      set_params: ['paths'],
      arg_aliases: { rev: 'ref', revision: 'ref', context: 'context_lines' },
    },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  measure: ({ patch }) => patch.length,
  hasLargeAnswers: true,
  present: presentDiff,
  async run(wanted, { git, workspace }) {
    const [sides, specs] = await Promise.all([diffSides(git, wanted), pathspecsOf(wanted.paths, workspace)]);
    const output = await diff(git, wanted, { sides, specs });
    const isCut = output.isCut === true;
    const { files, patch = Buffer.alloc(0) } = readDiff(output.stdout, { isCut });
    const text = patchText(patch, { maxBytes: wanted.max_bytes, isCut });
    return { ...text, files: listedFiles(files), total_files: files.length };
  },
});

interface Places {
  readonly sides: readonly string[];
  readonly specs: readonly string[];
}

async function diff(git: GitRepository, wanted: Args, { sides, specs }: Places): Promise<GitOutput> {
  const output = await runDiff(git, wanted, { sides, specs });
  if (output.code === 0) return output;
  const [head] = await findObjects(git, ['HEAD']);
  if (head === undefined && sides.includes('HEAD')) {
    const nothing = emptyTree(await git.config());
    return runDiff(git, wanted, { sides: sides.map((side) => (side === 'HEAD' ? nothing : side)), specs });
  }
  throw gitFailure('Git diff failed', {
    reason: 'git_failed',
    next: 'read the message of git in details.stderr',
    details: { exit_code: output.code, stderr: output.stderr.slice(0, 4000) },
  });
}

function runDiff(git: GitRepository, wanted: Args, { sides, specs }: Places): Promise<GitOutput> {
  const { stat, context_lines, max_bytes } = wanted;
  return git.run({
    words: [
      'diff',
      ...DIFF_WORDS,
      ...(stat ? [] : ['--patch', `--unified=${context_lines}`]),
      ...sides,
      '--',
      ...specs,
    ],
    access: 'read',
    accept: [0, 128],
    ...(stat ? {} : { maxBytes: max_bytes + LIST_BYTES, overflow: 'cut' }),
  });
}

interface Compared {
  readonly ref: string;
  readonly to?: string | undefined;
  readonly staged: boolean;
}

/** The arguments that tell git what to compare: hashes, or HEAD where the caller gave nothing else. */
async function diffSides(git: GitRepository, { ref, to, staged }: Compared): Promise<readonly string[]> {
  const range = parseRange(ref);
  if ((range !== undefined || to !== undefined) && staged) throw twoAnswers('staged', 'a second revision');
  if (range !== undefined && to !== undefined) throw twoAnswers('to', 'a range in ref');
  if (range?.symmetric === true) {
    const [from, until] = await resolveRevisions(git, [
      { text: range.from, argument: 'ref' },
      { text: range.to, argument: 'ref' },
    ]);
    return [`${from}...${until}`];
  }
  const index = staged ? ['--cached'] : [];
  // Our own word then; it needs no look-up.
  if (ref === 'HEAD' && to === undefined) return [...index, 'HEAD'];
  const questions = [{ text: range?.from ?? ref, argument: 'ref', type: 'tree' as const }];
  const second = range?.to ?? to;
  if (second !== undefined) questions.push({ text: second, argument: to === undefined ? 'ref' : 'to', type: 'tree' });
  return [...index, ...(await resolveRevisions(git, questions))];
}

function twoAnswers(argument: string, other: string) {
  return gitFailure(`Give only one of ${argument} and ${other}`, {
    path: argument,
    reason: 'bad_range',
    next: `leave out ${argument}, or ${other}`,
  });
}

function presentDiff(
  { patch, files, total_files, truncated }: z.output<typeof data>,
  { ref, to, staged }: Args,
): ToolText {
  if (total_files === 0) return { head: 'no differences' };
  const rest = (names: readonly string[]): string =>
    callText('git_diff', { ref, ...(to === undefined ? {} : { to }), ...(staged ? { staged } : {}), paths: names });
  const changed = files.reduce(
    (sum, { additions, deletions }) => [(sum[0] ?? 0) + additions, (sum[1] ?? 0) + deletions],
    [0, 0],
  );
  const more = truncated ? '; the patch is longer than max_bytes: give paths' : '';
  return {
    head: `${counted(total_files, 'file')} changed, +${changed[0]} -${changed[1]}${more}`,
    parts: patch === '' ? [{ type: 'text', text: fileRows(files) }] : [patchPart(patch, files, rest)],
  };
}
