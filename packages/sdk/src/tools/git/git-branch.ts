/** git_branch: lists, creates, deletes and renames branches and sets what they follow. Never checks one out. */
import { z } from 'zod';
import type { GitOutput, GitRepository } from '../../contracts/git.ts';
import { defineTool, type RehearsalContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { currentBranch } from '../../git/head-commit.ts';
import { branchSubject, readGit } from '../../git/read-git.ts';
import { shortHash } from '../../present/rows.ts';
import { createBranch, deleteBranch, readBranches, renameBranch, setUpstream } from './branches.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { revision } from './git-arguments.ts';

const MAX_BRANCHES = 5000;

const args = z.strictObject({
  action: z.enum(['list', 'create', 'delete', 'rename', 'set_upstream']).default('list'),
  name: z.string().min(1).optional().describe('Branch to act on; rename and set_upstream take the current one instead'),
  new_name: z.string().min(1).optional().describe('Given for rename'),
  start: revision.optional().describe('Where a created branch begins; default: HEAD'),
  upstream: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .describe('Branch to follow, such as origin/main, for set_upstream and create; null: follow none'),
  force: z.boolean().default(false).describe('Delete although not merged; replace a branch of the same name'),
  remotes: z.boolean().default(false).describe('List the branches of remotes too, as they were fetched last'),
});

const named = { name: z.string(), hash: z.string() };

const data = z.strictObject({
  current: z.string().nullable().describe('Null when HEAD is detached'),
  branches: z
    .array(
      z.strictObject({
        ...named,
        upstream: z.string().nullable(),
        ahead: z.int().nullable().describe('Commits that the upstream does not have; null without an upstream'),
        behind: z.int().nullable().describe('Commits that only the upstream has; null without an upstream'),
        gone: z.literal(true).optional().describe('The upstream no longer exists'),
        current: z.boolean(),
        remote: z.boolean(),
        subject: z.string(),
      }),
    )
    .optional()
    .describe('Given for list'),
  truncated: z.boolean().optional().describe(`There are more than ${MAX_BRANCHES}`),
  created: z.strictObject({ ...named, moved_from: z.string().optional() }).optional(),
  deleted: z.strictObject(named).optional().describe('Create it again with start: hash to bring it back'),
  renamed: z
    .strictObject({ from: z.string(), to: z.string(), hash: z.string(), replaced: z.string().optional() })
    .optional(),
  tracking: z.strictObject({ name: z.string(), upstream: z.string().nullable() }).optional(),
});

type Args = z.output<typeof args>;

export const gitBranch = defineTool({
  name: 'git_branch',
  category: 'git',
  title: 'Git branch',
  summary: 'List, create, delete or rename branches',
  policyNotes: 'The branch that is checked out is never deleted; unmerged ones only with force',
  args,
  data,
  annotations: { ...WRITE_GIT, arg_schema: { arg_aliases: { ref: 'start' } } },
  leastLevel: 'read_only',
  effect: 'write',
  risk: 'high',
  profile: ({ action, force }) => {
    if (action === 'list') return { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' };
    return { risk: force ? 'high' : 'medium' };
  },
  rehearse: expectBranches,
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ action, name, new_name, force }) => {
    const newBranch = { create: name, rename: new_name }[action as string];
    return { verb: 'branch', force, ...(newBranch === undefined ? {} : { newBranch }) };
  },
  present: presentBranches,
  async run(wanted, { git }) {
    const answer = await ACTIONS[wanted.action](git, wanted);
    return { current: (await currentBranch(git)) ?? null, ...answer };
  },
});

const ACTIONS = {
  list: listBranches,
  create: createBranch,
  delete: deleteBranch,
  rename: renameBranch,
  set_upstream: setUpstream,
} as const;

type Data = z.output<typeof data>;

/** The action itself, with every writing run of git left out, says which references will change. */
async function expectBranches(wanted: Args, { git, expect }: RehearsalContext): Promise<Data | undefined> {
  // What a branch follows is configuration, which is not compared.
  if (wanted.upstream !== undefined || wanted.action === 'set_upstream') return undefined;
  const answer: Partial<Data> = await ACTIONS[wanted.action](withoutWrites(git), wanted);
  const { created, deleted, renamed } = answer;
  const current = (await currentBranch(git)) ?? null;
  if (created !== undefined) await expectBranch(created.name, created.hash);
  if (deleted !== undefined) await expectBranch(deleted.name, 'missing');
  if (renamed === undefined) return { current, ...answer };
  if (renamed.from === renamed.to) return undefined;
  await expectBranch(renamed.from, 'missing');
  await expectBranch(renamed.to, renamed.hash);
  return { current: current === renamed.from ? renamed.to : current, ...answer };

  async function expectBranch(name: string, after: string): Promise<void> {
    const subject = branchSubject(name);
    const reading = await readGit(git, subject);
    if (reading !== undefined) expect({ subject, before: reading.exact, after });
  }
}

function withoutWrites(git: GitRepository): GitRepository {
  const done: GitOutput = { code: 0, stdout: Buffer.alloc(0), stderr: '' };
  return { ...git, run: async (request) => (request.access === 'write' ? done : git.run(request)) };
}

async function listBranches(git: GitRepository, { remotes }: Args) {
  const all = await readBranches(git, ['refs/heads', ...(remotes ? ['refs/remotes'] : [])]);
  return { branches: all.slice(0, MAX_BRANCHES), truncated: all.length > MAX_BRANCHES };
}

function presentBranches(answer: z.output<typeof data>): ToolText {
  const { current, branches, truncated, created, deleted, renamed, tracking } = answer;
  const done = [
    ...(created === undefined ? [] : [`created ${created.name} at ${shortHash(created.hash)}`]),
    ...(created?.moved_from === undefined ? [] : [`it was at ${created.moved_from}`]),
    ...(deleted === undefined ? [] : [`deleted ${deleted.name}, which was at ${deleted.hash}`]),
    ...(renamed === undefined ? [] : [`renamed ${renamed.from} to ${renamed.to}, at ${shortHash(renamed.hash)}`]),
    ...(renamed?.replaced === undefined ? [] : [`it replaced a branch at ${renamed.replaced}`]),
    ...(tracking === undefined ? [] : [`${tracking.name} follows ${tracking.upstream ?? 'nothing'}`]),
    `on ${current ?? 'no branch'}${truncated === true ? '; there are more branches than these' : ''}`,
  ];
  const rows = (branches ?? []).map(({ name, hash, upstream, ahead, behind, gone, current: isCurrent, subject }) => {
    const distance =
      upstream === null ? '' : ` [${upstream}${gone === true ? ': gone' : `: ${ahead} ahead, ${behind} behind`}]`;
    return `${isCurrent ? '*' : ' '} ${name} ${shortHash(hash)}${distance} ${subject}`;
  });
  return { head: done.join('\n'), parts: [{ type: 'text', text: rows }] };
}
