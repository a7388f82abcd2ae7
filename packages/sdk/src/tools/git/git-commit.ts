/**
 * git_commit: makes a commit of exactly the tree that passed the gate.
 *
 * The gate froze a copy of the index; the commit is made from that copy, so what is staged in the meantime is not in it.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { CommitCandidate } from '../../contracts/git.ts';
import { defineTool, type RehearsalContext, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { type HeadCommit, headCommit } from '../../git/head-commit.ts';
import { isTrue } from '../../git/parse-config.ts';
import { commitContent, HEAD_SUBJECT, readGit, stagedFiles } from '../../git/read-git.ts';
import { shortHash } from '../../present/rows.ts';
import { committerVariables, type Signing, signingOf } from './committer.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { headMoved, makePlainCommit } from './plain-commit.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { type SavedCommit, saveCommit } from './recovery/save-recovery.ts';

const args = z.strictObject({
  message: z
    .string()
    .max(65_536)
    .refine((text) => text.trim() !== '' && !text.includes('\0'), 'Message is empty')
    .describe('Subject line, empty line, and the rest'),
  signoff: z.boolean().exactOptional().describe('Add a Signed-off-by line; default: git.signoff or format.signOff'),
  sign: z.boolean().exactOptional().describe('Sign with the ssh agent (git.signing: agent); default: commit.gpgSign'),
  allow_empty: z.boolean().default(false).describe('Commit although nothing is staged'),
  overrides: z
    .record(z.string(), z.string().trim().min(3))
    .exactOptional()
    .describe('Rule id → reason to ignore its finding; the reason is recorded'),
});

const data = z.strictObject({
  commit: z.string().describe('Hash of the new commit'),
  tree: z.string().describe('Hash of its tree, the one the rules checked'),
  parent: z.string().nullable(),
  recovery: z.string().exactOptional().describe('For git_recover: the state before'),
});

export const gitCommit = defineTool({
  name: 'git_commit',
  category: 'git',
  title: 'Commit',
  summary: 'Commit what is staged, after the commit rules have passed',
  policyNotes:
    'The rules of the registry judge the staged tree first; hooks of the repository run only with git.hooks: sandboxed',
  args,
  data,
  annotations: { ...WRITE_GIT, arg_schema: { required: ['message'] } },
  effect: 'write',
  risk: 'medium',
  rehearse: expectCommit,
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ message, overrides }) => ({ verb: 'commit', message, ...(overrides === undefined ? {} : { overrides }) }),
  recordDetails: ({ overrides }) => (overrides === undefined ? {} : { overrides }),
  present: presentCommit,
  run: commit,
});

/** The new HEAD is known by its parent, files and message; its hash, which holds the time, only afterwards. */
async function expectCommit({ message }: z.output<typeof args>, { git, expect }: RehearsalContext): Promise<undefined> {
  const [head, files] = await Promise.all([readGit(git, HEAD_SUBJECT), stagedFiles(git)]);
  if (head === undefined || files === undefined) return;
  const parent = (head.found?.['commit'] ?? null) as string | null;
  expect({ subject: HEAD_SUBJECT, before: head.exact, after: commitContent(parent, files, message) });
}

async function commit(given: z.output<typeof args>, context: ToolContext): Promise<z.output<typeof data>> {
  const { candidate } = context;
  if (candidate === undefined) throw new TypeError('A commit was started without its gate');
  const signing = await signingOf(given.sign, context);
  const saved = await saveCommit(context, candidate);
  return namingRecovery(saved, async () => {
    const { hash, tree, parent } = await commitCandidate(given, { candidate, signing, saved }, context);
    return { commit: hash, tree, parent, recovery: saved.ref };
  });
}

interface Prepared {
  readonly candidate: CommitCandidate;
  readonly signing: Signing;
  readonly saved: SavedCommit;
}

async function commitCandidate(
  given: z.output<typeof args>,
  { candidate, signing, saved }: Prepared,
  context: ToolContext,
): Promise<HeadCommit> {
  const { git } = context;
  const message = candidate.message ?? given.message;
  const env = await committerVariables(context);
  const isSignedOff = await isSignOffWanted(given.signoff, context);
  if (!isSignedOff && signing.run.signing === undefined && !saved.isUnderWay) {
    const made = await makePlainCommit({ tree: candidate.tree, message, env }, context);
    if (made !== undefined) return made;
  }
  const output = await git.run({
    words: [
      ...['commit', '--no-verify', '--quiet', '--file=-', signing.word],
      isSignedOff ? '--signoff' : '--no-signoff',
      ...(given.allow_empty ? ['--allow-empty'] : []),
    ],
    access: 'write',
    index: await candidate.index.name(),
    stdin: message,
    env,
    ...signing.run,
    accept: [0, 1],
  });
  const head = await headCommit(git);
  if (output.code !== 0) throw refused(output.stderr, candidate.tree === head?.tree);
  if (head?.tree !== candidate.tree) throw headMoved(head?.tree);
  return head;
}

async function isSignOffWanted(asked: boolean | undefined, { git, registry }: ToolContext): Promise<boolean> {
  if (asked !== undefined || registry.git.signoff) return asked ?? true;
  const [own, operator] = await Promise.all([git.config(), git.operatorConfig()]);
  return isTrue(own.get('format.signoff') ?? operator.get('format.signoff'));
}

function refused(said: string, isSame: boolean): ToolError {
  if (isSame) {
    return gitFailure('Nothing is staged', {
      reason: 'nothing_staged',
      next: 'stage changes with git_add, or pass allow_empty: true',
    });
  }
  return gitFailure('Git did not commit', {
    reason: 'git_failed',
    next: 'read the message of git in details.stderr',
    details: { stderr: said.trim().slice(0, 2000) },
  });
}

function presentCommit({ commit, parent }: z.output<typeof data>): string {
  return `committed ${commit}, parent ${shortHash(parent)}`;
}
