/**
 * sec.git.clean_tree: git verbs start from a work tree in which nothing can get lost or be taken for something else.
 *
 * A commit takes what is staged and leaves the rest, and a push touches neither, unless the registry demands a clean tree
 * for them. Verbs that change the work tree refuse staged and unstaged changes.
 * Untracked files are ignored here. Unmerged files always stop the call.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { GitIntent, GitVerb } from '../contracts/git.ts';
import { defineRule, type RuleContext, type Violation } from '../contracts/rule.ts';
import { parseStatus, type StatusEntry } from '../git/parse-status.ts';
import { readIndex } from '../git/read-index.ts';
import { emptyTree } from '../git/resolve-revisions.ts';
import { shownNames } from '../text/names.ts';

const STAGED_ALLOWED: Readonly<Partial<Record<GitVerb, boolean>>> = {
  commit: true,
  push: true,
  checkout: false,
  merge: false,
  pull: false,
  rebase: false,
};
const MAX_PATHS = 20;

export const secGitCleanTree = defineRule({
  id: 'sec.git.clean_tree',
  category: 'Git',
  description:
    'Nothing is unmerged; where files are replaced, nothing is changed or staged (git.require_clean_tree_for_commit: nothing is unstaged for commit and push either)',
  phase: 'guard',
  trigger: 'commit, push, rebase, merge, checkout, pull',
  defaultEnforcement: 'blocking',
  always: true,
  errorCode: 'E_POLICY',
  appliesTo: ({ git }) => git !== undefined && STAGED_ALLOWED[git.verb] !== undefined,
  async check({ git: intent }, context) {
    if (intent === undefined || (isFree(intent, context) && (await isMerged(context)))) return [];
    return judge(await changedEntries(context), intent, context);
  },
});

/** Only unmerged files could stop the verb: it touches no others. */
function isFree({ verb }: GitIntent, { registry }: RuleContext): boolean {
  return STAGED_ALLOWED[verb] === true && !registry.git.require_clean_tree_for_commit;
}

/** By the index file, where that says it: comparing it with all files takes git a hundred times as long. */
async function isMerged({ git, signal }: RuleContext): Promise<boolean> {
  try {
    const [index, config] = await Promise.all([git.files.read('index'), git.config(signal)]);
    return index !== undefined && readIndex(index, emptyTree(config).length / 2)?.hasUnmerged === false;
  } catch (thrown) {
    // Whatever is wrong with the repository, git says it better.
    if (isToolError(thrown)) return false;
    throw thrown;
  }
}

async function changedEntries({ git, signal }: RuleContext): Promise<readonly StatusEntry[]> {
  const words = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--ignore-submodules=dirty'];
  try {
    const { stdout } = await git.run({ words, access: 'read', signal });
    return parseStatus(stdout.toString('utf8')).entries;
  } catch (thrown) {
    // Nothing to guard: the verb itself says best that there is no repository.
    if (isToolError(thrown) && thrown.details['reason'] === 'no_repository') return [];
    throw thrown;
  }
}

function judge(entries: readonly StatusEntry[], { verb }: GitIntent, { registry }: RuleContext): readonly Violation[] {
  const unmerged = entries.filter(({ kind }) => kind === 'unmerged');
  const tracked = entries.filter(({ kind }) => kind === 'tracked');
  const unstaged = tracked.filter(({ worktree }) => worktree !== '.');
  const staged = tracked.filter(({ index }) => index !== '.');
  // Neither touches the work tree: a commit takes what is staged, a push what is committed.
  const isDemanded = STAGED_ALLOWED[verb] !== true || registry.git.require_clean_tree_for_commit;
  return [
    ...violation('Files are unmerged', unmerged, {
      reason: 'unmerged',
      next: 'resolve them (git_conflicts shows them) and git_add them, or call git_abort',
    }),
    ...violation('Tracked files have changes that are not staged', isDemanded ? unstaged : [], {
      reason: 'unstaged',
      next: 'git_add them, git_restore them or git_stash',
    }),
    ...violation(`Staged changes are in the way of ${verb}`, STAGED_ALLOWED[verb] === false ? staged : [], {
      reason: 'staged',
      next: 'git_commit them, git_restore them or git_stash',
    }),
  ];
}

function violation(
  what: string,
  entries: readonly StatusEntry[],
  { reason, next }: { readonly reason: string; readonly next: string },
): readonly Violation[] {
  const [first] = entries;
  if (first === undefined) return [];
  const paths = entries.map(({ path }) => path);
  return [
    {
      message: `${what}: ${shownNames(paths)}`,
      path: first.path,
      next,
      details: { reason, count: paths.length, paths: paths.slice(0, MAX_PATHS) },
    },
  ];
}
