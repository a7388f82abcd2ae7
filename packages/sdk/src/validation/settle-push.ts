/**
 * Settles what a push or a commit would publish before anything is checked or sent. The gate checks exactly this and
 * the tool uses exactly this; nothing is looked up a second time.
 */

import { isToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../contracts/failures.ts';
import type { CommitCandidate, GitRepository, Publication, PushRequest } from '../contracts/git.ts';
import type { Registry } from '../contracts/registry.ts';
import { gitFailure } from '../git/git-failure.ts';
import { currentBranch } from '../git/head-commit.ts';
import { writeIndexTree } from '../git/index-tree.ts';
import { type PushSpec, parsePushSpec } from '../git/ref-names.ts';
import { emptyTree, findObjects, unknownRevision } from '../git/resolve-revisions.ts';
import { hasPlainStore } from '../git/write-objects.ts';
import { compileGlobs } from '../glob/match-glob.ts';
import { freezeIndex } from './freeze-index.ts';

type PushRules = Pick<Registry, 'protectedBranches' | 'git'>;

export async function settlePush(git: GitRepository, wanted: PushRequest, rules: PushRules): Promise<Publication> {
  const spec = parsePushSpec(wanted.refspec);
  const remote = await git.remote(wanted.remote, 'push');
  const sides = await resolveSides(git, spec);
  const isForced = wanted.force || spec.force || sides.hash === undefined;
  if (isForced) checkForce(sides.destination, { wanted, spec }, rules);
  return { ...sides, remote, isForced };
}

/** A branch goes to its own name by default, and so does a tag; a bare commit has no name. */
async function resolveSides(
  git: GitRepository,
  { source, destination }: PushSpec,
): Promise<Pick<Publication, 'hash' | 'commit' | 'destination' | 'branch'>> {
  const nothing = { hash: undefined, commit: undefined, branch: undefined };
  if (source === undefined) return { ...nothing, destination: destination ?? '' };
  const named =
    source === 'HEAD' ? ((await currentBranch(git)) ?? 'HEAD') : source.replace(/^refs\/(?:heads|tags)\//, '');
  const [hash, branch, tag] = await findObjects(git, [
    `${source}^{object}`,
    `refs/heads/${named}`,
    `refs/tags/${named}`,
  ]);
  if (hash === undefined) throw unknownRevision(source, 'ref');
  const [commit] = await findObjects(git, [`${hash}^{commit}`]);
  const isBranch = branch !== undefined && !source.startsWith('refs/tags/');
  const found = { hash, commit, branch: isBranch ? named : undefined };
  if (destination !== undefined) return { ...found, destination };
  if (isBranch) return { ...found, destination: `refs/heads/${named}` };
  if (tag !== undefined) return { ...found, destination: `refs/tags/${named}` };
  throw gitFailure(`Where to push is not said: ${safeText(source, 120)}`, {
    path: 'ref',
    reason: 'no_destination',
    next: 'write source:refs/heads/<branch>',
  });
}

function checkForce(
  destination: string,
  { wanted, spec }: { readonly wanted: PushRequest; readonly spec: PushSpec },
  { protectedBranches, git }: PushRules,
): void {
  const branch = destination.replace(/^refs\/(?:heads|tags)\//, '');
  if (compileGlobs(protectedBranches)(branch)) {
    throw policyDenial(`Protected branch cannot be replaced or deleted: ${branch}`, {
      path: 'ref',
      details: { gate: 'git_push', reason: 'protected_branch', next: 'push without force, or to another branch' },
    });
  }
  if (!git.allow_force_push) {
    throw policyDenial('Forced push is not allowed: git.allow_force_push is false', {
      path: 'force',
      details: {
        gate: 'git_push',
        reason: 'force_forbidden',
        next: 'push without force, or have the operator set git.allow_force_push: true',
      },
    });
  }
  if (!wanted.force && (spec.force || spec.source === undefined)) {
    throw policyDenial('Refspec asks for force, the call does not', {
      path: 'ref',
      details: {
        gate: 'git_push',
        reason: 'force_not_said',
        next: 'say force: true, or leave out the + or the deletion',
      },
    });
  }
}

/**
 * Freezes what a commit would take: a copy of the index that nothing else writes, and the tree it makes. Rules look at
 * that tree and the commit is made from that copy, so a change of the real index in between changes neither.
 *
 * `from`: name of the index in the git folder; hooks of `git commit -a` are given another one than usual.
 */
export async function freezeCandidate(
  git: GitRepository,
  signal: AbortSignal,
  from = 'index',
): Promise<CommitCandidate> {
  const index = freezeIndex(git.files, await git.files.read(from));
  const made = index.bytes === undefined ? undefined : await ownTree(git, index.bytes);
  if (made !== undefined) return { index, tree: made };
  const name = await index.name();
  const written = await git.run({ words: ['write-tree'], access: 'write', index: name, signal, accept: [0, 128] });
  if (written.code === 0) return { index, tree: written.stdout.toString('utf8').trim() };
  await index.discard();
  throw gitFailure('Nothing can be committed while files are unmerged', {
    reason: 'unmerged',
    next: 'resolve them (git_conflicts shows how they stand), add them, then commit',
    details: { stderr: written.stderr.trim().slice(0, 2000) },
  });
}

/** Undefined where git has to write the tree, or can say better why it cannot be written. */
async function ownTree(git: GitRepository, index: Buffer): Promise<string | undefined> {
  const config = await git.config();
  if (!hasPlainStore(config)) return undefined;
  try {
    return await writeIndexTree(git.files, index, emptyTree(config).length / 2);
  } catch (thrown) {
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}
