/** git_checkout: switches to a branch, a new branch, a remote's branch, or a commit. */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { checkBranchName, checkRevision } from '../../git/ref-names.ts';
import { findObjects, unknownRevision } from '../../git/resolve-revisions.ts';
import { goBack, shortHash } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { gitRefused, shortBranch } from './operation-state.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { type SavedRecovery, saveRecovery } from './recovery/save-recovery.ts';
import { refuseOverwriting, reportFiles } from './report-changes.ts';

const args = z.strictObject({
  ref: z.string().min(1).describe('Branch, or tag, hash or expression for a detached HEAD; with create: a new name'),
  create: z.boolean().default(false).describe('Create the branch first'),
  track: z
    .boolean()
    .default(true)
    .describe('A branch only one remote has is made here too and follows it; with create: follow `start`'),
  start: z.string().min(1).exactOptional().describe('With create: where the branch begins; default: HEAD'),
});
type Args = z.output<typeof args>;

const data = z.strictObject({
  checked_out: z.boolean(),
  branch: z.string().nullable().describe('Null when HEAD is detached'),
  head: z.string().nullable(),
  previous: z.string().nullable().describe('Branch, or commit, that was checked out before'),
  created: z.boolean(),
  upstream: z.string().nullable().describe('Remote branch a new branch follows'),
  recovery: z.string().describe('For git_recover: the state before'),
});

export const gitCheckout = defineTool({
  name: 'git_checkout',
  category: 'git',
  title: 'Check out',
  summary: 'Switch to a branch or commit, or make a branch',
  policyNotes: 'Needs a clean tree; never writes over untracked or ignored files',
  args,
  data,
  annotations: { ...WRITE_GIT, arg_schema: { arg_aliases: { target: 'ref', branch: 'ref' }, required: ['ref'] } },
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ ref, create }) => ({ verb: 'checkout', ...(create ? { newBranch: ref } : {}) }),
  present: presentCheckout,
  run: checkOut,
});

/** What is to be switched to, in words of our own. */
interface Destination {
  readonly words: readonly string[];
  /** Null for a detached HEAD. */
  readonly branch: string | null;
  /** Undefined when the files stay as they are. */
  readonly commit: string | undefined;
  readonly created: boolean;
  readonly upstream: string | null;
}

async function checkOut(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const { git } = context;
  const destination = given.create ? await newBranch(given, git) : await existing(given, git);
  const saved = await saveRecovery(context, { verb: 'checkout', target: destination.commit });
  return namingRecovery(saved, () => switchTo(destination, saved, context));
}

async function switchTo(destination: Destination, saved: SavedRecovery, context: ToolContext) {
  const { git, workspace } = context;
  const tracked = saved.dirty.entries.filter(({ kind }) => kind !== 'untracked').map(({ path }) => path);
  await refuseOverwriting(saved.touched, new Set(tracked), workspace);
  const output = await git.run({
    words: ['switch', '--quiet', '--no-guess', '--no-overwrite-ignore', ...destination.words],
    access: 'write',
    accept: [0, 1, 128],
  });
  if (output.code !== 0) {
    const next = 'read the message of git in details.stderr';
    throw gitRefused({ what: 'Git did not switch', next, path: 'ref' }, output, saved);
  }
  reportFiles(context, saved.touched);
  const { branch, commit, created, upstream } = destination;
  const previous = shortBranch(saved.branch) ?? saved.head;
  const head = commit ?? saved.head;
  return { checked_out: true, branch, head, previous, created, upstream, recovery: saved.ref };
}

async function newBranch({ ref, track, start }: Args, git: GitRepository): Promise<Destination> {
  const name = checkBranchName(ref, 'ref');
  const from = start === undefined ? 'HEAD' : checkRevision(start, 'start');
  const [known, commit, remote] = await findObjects(git, [
    `refs/heads/${name}`,
    `${from}^{commit}`,
    `refs/remotes/${from}`,
  ]);
  if (known !== undefined) {
    throw gitFailure(`Branch exists already: ${name}`, {
      path: 'ref',
      reason: 'branch_exists',
      next: 'leave out create to switch to it, or choose another name',
    });
  }
  if (commit === undefined && start !== undefined) throw unknownRevision(start, 'start');
  // A name git knows below refs/remotes is a name by git's own rules, and ours: only then is it passed on.
  const followed = track && start !== undefined && remote !== undefined ? checkBranchName(start, 'start') : undefined;
  if (followed !== undefined) return following(name, followed, remote);
  // Before the first commit there is nothing to begin from: only the name changes.
  const words = ['--no-track', '--create', name, ...(commit === undefined ? [] : [commit])];
  return { words, branch: name, commit: start === undefined ? undefined : commit, created: true, upstream: null };
}

function following(name: string, remote: string, commit: string | undefined): Destination {
  return {
    words: ['--track=direct', '--create', name, `refs/remotes/${remote}`],
    branch: name,
    commit,
    created: true,
    upstream: remote,
  };
}

async function existing({ ref, track }: Args, git: GitRepository): Promise<Destination> {
  const text = checkRevision(ref, 'ref');
  const remotes = track ? await remoteNames(git) : [];
  const [local, commit, ...others] = await findObjects(git, [
    `refs/heads/${text}^{commit}`,
    `${text}^{commit}`,
    ...remotes.map((remote) => `refs/remotes/${remote}/${text}^{commit}`),
  ]);
  const known = { created: false, upstream: null };
  if (local !== undefined) {
    return { words: [checkBranchName(text, 'ref')], branch: text, commit: local, ...known };
  }
  if (commit !== undefined) return { words: ['--detach', commit], branch: null, commit, ...known };
  const having = remotes.filter((_, at) => others[at] !== undefined);
  const [remote] = having;
  if (remote === undefined) throw unknownRevision(text, 'ref');
  if (having.length > 1) throw ambiguous(text, having);
  return following(checkBranchName(text, 'ref'), `${remote}/${text}`, others[remotes.indexOf(remote)]);
}

async function remoteNames(git: GitRepository): Promise<readonly string[]> {
  const keys = (await git.config()).keys();
  const names = keys.flatMap((key) => /^remote\.([\w.-][\w./-]*)\.(?:url|fetch)$/.exec(key)?.[1] ?? []);
  return [...new Set(names)];
}

function ambiguous(text: string, remotes: readonly string[]) {
  return gitFailure(`Several remotes have this branch: ${safeText(text, 120)}`, {
    path: 'ref',
    reason: 'ambiguous',
    next: `say create with start ${remotes.map((remote) => `${remote}/${safeText(text, 120)}`).join(' or ')}`,
    details: { remotes: [...remotes] },
  });
}

function presentCheckout({ branch, head, previous, created, upstream, recovery }: z.output<typeof data>): string {
  const how = created ? `, a new branch${upstream === null ? '' : ` that follows ${upstream}`}` : '';
  const was = previous === null ? '' : `; before: ${previous}`;
  return `on ${branch ?? 'no branch'} at ${shortHash(head)}${how}${was}\n${goBack(recovery)}`;
}
