/**
 * The last gate of git verbs, under the locks and right before they run, so that nothing can move in between: first the
 * guards on the state of the repository, then the rules about what would be committed or published.
 *
 * A commit is made from the candidate frozen here, and recorded as judged. A push is settled here: every commit that its
 * remote does not report needs such a record, otherwise the rules run now over all that would be published. A merge or
 * rebase is judged by what the repository says of its remotes, as a warning in advance: that gives no record.
 */
import { policyDenial } from '../contracts/failures.ts';
import type {
  ChangeScope,
  ChangeSet,
  CommitCandidate,
  GitIntent,
  GitRepository,
  Publication,
} from '../contracts/git.ts';
import { currentBranch, headCommit } from '../git/head-commit.ts';
import { emptyTree, findObjects } from '../git/resolve-revisions.ts';
import { type AddedCommit, commitsSince, publishedAt, trackedCommits } from '../validation/added-commits.ts';
import { buildChangeSet, type Wanted } from '../validation/change-set.ts';
import { freezeCandidate, settlePush } from '../validation/settle-push.ts';
import type { GatedCall, GateOutcome, RecordedCall } from './state/call-types.ts';
import { endingWith } from './state/git-view.ts';
import { type HookSetting, runCommitHooks, runPostCommitHook, runPushHook } from './state/run-hooks.ts';
import { runRules } from './state/run-rules.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';

const SCOPES: Readonly<Partial<Record<GitIntent['verb'], ChangeScope>>> = {
  commit: 'staged',
  push: 'head',
  merge: 'head',
  rebase: 'head',
};
const NOTHING: GateOutcome = { candidate: undefined, publication: undefined };

export async function checkCommitGate(call: RecordedCall, parts: SessionParts): Promise<GateOutcome> {
  const intent = call.subject.git;
  if (intent === undefined) return NOTHING;
  if (intent.overrides !== undefined) parts.rules.checkOverrides(intent.overrides);
  const scope = SCOPES[intent.verb];
  const git = gitOf(call, parts);
  // At the same time: neither needs the other, and each waits for git.
  const [guarded, frozen] = await Promise.all([
    settle(() => runRules('guard', call.open, call.subject, parts)),
    settle(async () => (scope === 'staged' ? freezeCandidate(git, call.open.signal()) : undefined)),
  ]);
  const candidate = frozen.ok ? frozen.value : undefined;
  try {
    if (!guarded.ok) throw guarded.error;
    if (!frozen.ok) throw frozen.error;
    if (scope === undefined) return NOTHING;
    if (intent.verb === 'push') return { candidate, publication: await checkPush(call, intent, parts) };
    if (candidate === undefined) {
      await judgeHead(call, parts);
      return { candidate, publication: undefined };
    }
    // First, because they may change the message, which the rules judge.
    const message = await runCommitHooks(hookSetting(call, parts), {
      frozen: candidate.index,
      message: intent.message,
    });
    await judgeCommit(call, { candidate, message }, parts);
    return { candidate: message === undefined ? candidate : { ...candidate, message }, publication: undefined };
  } catch (thrown) {
    if (candidate !== undefined) await candidate.index.discard();
    throw thrown;
  }
}

/** Hooks that run when the verb is done; the caller gets its answer whatever they do. */
export async function runHooksAfter(call: GatedCall, parts: SessionParts): Promise<void> {
  if (call.subject.git?.verb !== 'commit' || parts.registry.git.hooks === 'off') return;
  await runPostCommitHook(hookSetting(call, parts));
}

function hookSetting(call: RecordedCall, parts: SessionParts): HookSetting {
  const { warnings, signal } = call.open;
  const { registry, programs } = parts;
  return { git: gitOf(call, parts), commands: programs.commands, registry, signal: signal(), warnings };
}

function gitOf({ open }: RecordedCall, { programs }: SessionParts): GitRepository {
  return endingWith(programs.git, open.signal);
}

interface Committed {
  readonly candidate: CommitCandidate;
  readonly message: string | undefined;
}

async function judgeCommit(call: RecordedCall, committed: Committed, parts: SessionParts): Promise<void> {
  if (!parts.rules.applies('on-commit', call.subject)) return;
  const git = gitOf(call, parts);
  const { tree } = committed.candidate;
  const changes = await judge(call, { scope: 'staged', ...committed }, parts);
  const before = changes?.base ?? (await headCommit(git))?.tree ?? emptyTree(await git.config());
  recordPass(call, { before, tree }, await currentBranch(git), parts);
}

/** Where a merge or rebase starts from. */
async function judgeHead(call: RecordedCall, parts: SessionParts): Promise<void> {
  if (!parts.rules.applies('on-commit', call.subject)) return;
  const git = gitOf(call, parts);
  const [[head], known, branch] = await Promise.all([
    findObjects(git, ['HEAD^{commit}']),
    trackedCommits(git),
    currentBranch(git),
  ]);
  if (head !== undefined) {
    const commits = await commitsSince(git, head, known);
    const [tip] = commits ?? [];
    // Without any remote-tracking branch nothing tells what is published: the last commit stands for all.
    if (tip !== undefined && havePassed(known.length === 0 ? [tip] : commits, branch, parts)) return;
  }
  await judge(call, { scope: 'head' }, parts);
}

/** A tool that names no remote gets no publication to send: everything behind HEAD counts as new then. */
async function checkPush(
  call: RecordedCall,
  { remote, refspec = 'HEAD', force = false }: GitIntent,
  parts: SessionParts,
): Promise<Publication | undefined> {
  const git = gitOf(call, parts);
  if (remote === undefined) {
    const [commit] = await findObjects(git, ['HEAD^{commit}']);
    const branch = await currentBranch(git);
    await judgePublication(call, { tip: commit, branch, known: async () => [] }, parts);
    return undefined;
  }
  const publication = await settlePush(git, { remote, refspec, force }, parts.registry);
  if (publication.hash === undefined) return publication;
  const branch = /^refs\/heads\/(.+)$/s.exec(publication.destination)?.[1];
  const known = () => publishedAt(git, publication.remote, call.open.signal());
  await judgePublication(call, { tip: publication.commit, branch, known }, parts);
  await runPushHook(hookSetting(call, parts), publication);
  return publication;
}

interface Published {
  /** Undefined: what is pushed is no commit. */
  readonly tip: string | undefined;
  readonly branch: string | undefined;
  known(): Promise<readonly string[]>;
}

/** What is published is every commit on the way, not only the last: each must have been judged when it was made. */
async function judgePublication(call: RecordedCall, published: Published, parts: SessionParts): Promise<void> {
  if (!parts.rules.applies('on-commit', call.subject)) return;
  const { tip, branch } = published;
  if (tip === undefined) throw notACommit();
  const known = await published.known();
  const commits = await commitsSince(gitOf(call, parts), tip, known);
  if (commits?.length === 0 || havePassed(commits, branch, parts)) return;
  await judge(call, { scope: 'head', publication: { tip, known, branch } }, parts);
  const [only, ...others] = commits ?? [];
  if (only !== undefined && others.length === 0) recordPass(call, only, branch, parts);
}

async function judge(call: RecordedCall, wanted: Wanted, parts: SessionParts): Promise<ChangeSet | undefined> {
  const source = { git: gitOf(call, parts), workspace: parts.readOnlyWorkspace, signal: call.open.signal() };
  let changes: Promise<ChangeSet> | undefined;
  await runRules('on-commit', call.open, call.subject, parts, () => {
    changes ??= buildChangeSet(wanted, source);
    return changes;
  });
  return changes;
}

type Change = Pick<AddedCommit, 'before' | 'tree'>;

/** The newest comes first: it also needs a pass on the branch, because rules ask more of protected ones. */
function havePassed(
  commits: readonly Change[] | undefined,
  branch: string | undefined,
  parts: SessionParts,
): commits is readonly Change[] {
  const [tip] = commits ?? [];
  if (commits === undefined || tip === undefined) return false;
  if (parts.findings.get(passKey(tip, branch, parts)) === undefined) return false;
  return commits.every((change) => parts.findings.get(changeKey(change, parts)) !== undefined);
}

function recordPass(call: RecordedCall, change: Change, branch: string | undefined, parts: SessionParts): void {
  parts.findings.set(passKey(change, branch, parts), call.open.callId);
  parts.findings.set(changeKey(change, parts), call.open.callId);
}

/** From one tree to the next: the same tree on top of another one is another change, with other lines to judge. */
function changeKey({ before, tree }: Change, { registry }: SessionParts): string {
  return `change:${before}:${tree}:${registry.fingerprint}`;
}

/** A pass is worth what the registry demanded when it was given. */
function passKey(change: Change, branch: string | undefined, parts: SessionParts): string {
  return `${changeKey(change, parts)}:${branch ?? ''}`;
}

function notACommit() {
  return policyDenial('What is pushed is not a commit, so no rule can judge it', {
    path: 'ref',
    details: { gate: 'commit', reason: 'not_a_commit', next: 'push a branch, or a tag of a commit' },
  });
}
