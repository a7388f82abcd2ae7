/**
 * The last gate of git verbs, under the locks and right before they run, so that nothing can move in between: first the
 * guards on the state of the repository, then the rules about what would be committed or published.
 *
 * A commit is made from the candidate frozen here. Verbs that publish or rewrite commits need a recorded pass of the tree
 * they start from; without one the rules run now.
 */
import type { ChangeScope, ChangeSet, CommitCandidate, GitIntent, GitRepository } from '../contracts/git.ts';
import { currentBranch } from '../git/current-branch.ts';
import { findObjects } from '../git/resolve-revisions.ts';
import { buildChangeSet } from '../validation/change-set.ts';
import { discardCandidate, freezeCandidate } from '../validation/freeze-candidate.ts';
import { unpublishedTrees } from '../validation/unpublished-trees.ts';
import type { RecordedCall } from './call-types.ts';
import { endingWith } from './git-view.ts';
import { runRules } from './run-rules.ts';
import type { SessionParts } from './session-parts.ts';
import { settle } from './settle.ts';

const SCOPES: Readonly<Partial<Record<GitIntent['verb'], ChangeScope>>> = {
  commit: 'staged',
  push: 'head',
  merge: 'head',
  rebase: 'head',
};

export async function checkCommitGate(call: RecordedCall, parts: SessionParts): Promise<CommitCandidate | undefined> {
  const intent = call.subject.git;
  if (intent === undefined) return undefined;
  if (intent.overrides !== undefined) parts.rules.checkOverrides(intent.overrides);
  const scope = SCOPES[intent.verb];
  const git = endingWith(parts.programs.git, call.open.signal);
  // At the same time: neither needs the other, and each waits for git.
  const [guarded, frozen] = await Promise.all([
    settle(() => runRules('guard', call.open, call.subject, parts)),
    settle(async () => (scope === 'staged' ? freezeCandidate(git, call.open.signal()) : undefined)),
  ]);
  const candidate = frozen.ok ? frozen.value : undefined;
  try {
    if (!guarded.ok) throw guarded.error;
    if (!frozen.ok) throw frozen.error;
    if (scope === undefined) return undefined;
    await judgeChanges(call, { scope, candidate, message: intent.message }, parts);
    return candidate;
  } catch (thrown) {
    if (candidate !== undefined) await dropCandidate(candidate, parts);
    throw thrown;
  }
}

interface Judgement {
  readonly scope: ChangeScope;
  readonly candidate: CommitCandidate | undefined;
  readonly message: string | undefined;
}

async function judgeChanges(call: RecordedCall, judgement: Judgement, parts: SessionParts): Promise<void> {
  if (!parts.rules.applies('on-commit', call.subject)) return;
  const git = endingWith(parts.programs.git, call.open.signal);
  const tree = judgement.candidate?.tree ?? (await findObjects(git, ['HEAD^{tree}']))[0];
  const pass = tree === undefined ? undefined : passKey(tree, await currentBranch(git), parts);
  if (judgement.scope === 'head' && pass !== undefined && (await hasPassed(pass, git, parts))) return;
  const source = { git, workspace: parts.readOnlyWorkspace, signal: call.open.signal() };
  let changes: Promise<ChangeSet> | undefined;
  await runRules('on-commit', call.open, call.subject, parts, () => {
    changes ??= buildChangeSet(judgement, source);
    return changes;
  });
  if (pass === undefined || tree === undefined) return;
  parts.findings.set(pass, call.open.callId);
  parts.findings.set(treeKey(tree, parts), call.open.callId);
}

/** What is published is every commit on the way, not only the last: each must have been judged when it was made. */
async function hasPassed(pass: string, git: GitRepository, parts: SessionParts): Promise<boolean> {
  if (parts.findings.get(pass) === undefined) return false;
  const trees = await unpublishedTrees(git);
  return trees.every((tree) => parts.findings.get(treeKey(tree, parts)) !== undefined);
}

function treeKey(tree: string, { registry }: SessionParts): string {
  return `tree:${tree}:${registry.fingerprint}`;
}

/** A pass is worth what the registry demanded when it was given, on a branch: rules ask more of protected ones. */
function passKey(tree: string, branch: string | undefined, { registry }: SessionParts): string {
  return `pass:${tree}:${registry.fingerprint}:${branch ?? ''}`;
}

/** Whatever became of the call, the frozen index is of no use afterwards. */
export function dropCandidate(candidate: CommitCandidate, parts: SessionParts): Promise<void> {
  return discardCandidate(parts.programs.git, candidate);
}
