/** git_stash: puts changes aside, and brings them back. */
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { parseRawDiff } from '../../git/parse-diff.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { counted, goBack, nameRows, shortHash } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { patchText } from './patch-text.ts';
import { toShown } from './recovery/raw-path.ts';
import {
  applyStash,
  dropStash,
  NOTHING_SHOWN,
  pushStash,
  readStashes,
  type StashAnswer,
  stashAnswer,
  stashAt,
  toldStash,
} from './stashes.ts';

const args = z.strictObject({
  action: z.enum(['push', 'list', 'apply', 'pop', 'drop', 'show']),
  message: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .regex(/^[^\x00-\x1f\x7f]*$/, 'one line without control characters')
    .exactOptional()
    .describe('push: what the stash is about'),
  include_untracked: z.boolean().default(true).describe('push: files git does not know too; ignored ones stay'),
  index: z.int().min(0).max(100_000).default(0).describe('apply, pop, drop, show: which one; 0 is the newest'),
});

export const gitStash = defineTool({
  name: 'git_stash',
  category: 'git',
  title: 'Stash',
  summary: 'Put uncommitted changes aside, list them, bring them back or drop them',
  policyNotes: 'Everything is saved first: what a stash loses can be had back with git_recover',
  args,
  data: stashAnswer,
  annotations: { ...WRITE_GIT, arg_schema: { required: ['action'] } },
  leastLevel: 'read_only',
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'stash' }),
  profile: ({ action }) =>
    action === 'list' || action === 'show'
      ? { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' }
      : {},
  present: presentStash,
  run: (given, context) => perform(given, context),
});

function perform({ action, index, ...given }: z.output<typeof args>, context: ToolContext) {
  switch (action) {
    case 'push':
      return pushStash(given, context);
    case 'list':
      return listStashes(context);
    case 'show':
      return showStash(index, context);
    case 'drop':
      return dropStash(index, context);
    default:
      return applyStash({ action, index }, context);
  }
}

const MAX_PATCH = 1024 * 1024;

/** The actions of git_stash that only look. */
async function listStashes({ git }: ToolContext): Promise<StashAnswer> {
  const stashes = (await readStashes(git)).map(toldStash);
  return { ...NOTHING_SHOWN, done: true, stashes, recovery: null };
}

async function showStash(index: number, { git }: ToolContext): Promise<StashAnswer> {
  const stash = stashAt(await readStashes(git), index);
  const sides = [`${stash.hash}^1`, stash.hash];
  const [names, patch, [extra]] = await Promise.all([
    git.run({
      words: ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', ...sides],
      access: 'read',
    }),
    git.run({
      words: ['diff-tree', '-r', '-p', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', ...sides],
      access: 'read',
    }),
    findObjects(git, [`${stash.hash}^3^{tree}`]),
  ]);
  const untracked =
    extra === undefined ? '' : await git.run({ words: ['ls-tree', '-r', '-z', '--name-only', extra], access: 'read' });
  const text = patchText(patch.stdout, { maxBytes: MAX_PATCH, isCut: false });
  return {
    ...NOTHING_SHOWN,
    done: true,
    stashes: [toldStash(stash, index)],
    files: parseRawDiff(names.stdout.toString('latin1')).map(({ path }) => toShown(path)),
    untracked: untracked === '' ? [] : untracked.stdout.toString('utf8').split('\0').filter(Boolean),
    patch: text.patch,
    truncated: text.truncated,
    recovery: null,
  };
}

function presentStash(answer: StashAnswer, { action }: z.output<typeof args>): ToolText {
  const { done, stashes, conflicts, files, untracked, patch, truncated, recovery } = answer;
  const rows = stashes.map(
    ({ index, commit, message, time }) => `stash ${index}: ${message} (${time}, ${shortHash(commit)})`,
  );
  const head = [
    action === 'list' ? counted(stashes.length, 'stash', 'stashes') : `${action}: ${done ? 'done' : 'not done'}`,
    ...nameRows('conflicts in:', conflicts),
    ...nameRows('changes:', files),
    ...nameRows('untracked:', untracked),
    ...(recovery === null ? [] : [goBack(recovery)]),
    ...(truncated ? ['there is more of the patch'] : []),
  ];
  return {
    head: head.join('\n'),
    parts: [
      { type: 'text', text: rows },
      { type: 'text', text: patch },
    ],
  };
}
