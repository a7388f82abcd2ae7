/**
 * What a push adds to a remote, by what that remote reports itself.
 *
 * Remote-tracking references are files of the repository: any process can write them, and they may belong to another
 * remote. So the remote is asked, over the connection the push would use, and only commits it names are taken as
 * published.
 */
import type { GitRemote, GitRepository } from '../contracts/git.ts';
import { emptyTree, findObjects } from '../git/resolve-revisions.ts';

export interface AddedCommit {
  readonly hash: string;
  readonly tree: string;
  /** Tree of the first parent; the empty tree for a first commit. */
  readonly before: string;
}

/** Commits the remote has and we have too: of what we do not have, nothing can be said. */
export async function publishedAt(
  git: GitRepository,
  remote: GitRemote,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { folder } = remote;
  const { stdout } = await git.run({
    words: ['ls-remote', '--quiet', ...(remote.peer === undefined ? [] : [remote.peer.uploadPack]), remote.alias],
    access: 'read',
    remote: folder === undefined ? remote : { ...remote, folder: { ...folder, writable: false } },
    signal,
  });
  const hashes = stdout.toString('latin1').match(/^(?:[0-9a-f]{64}|[0-9a-f]{40})(?=\t)/gm) ?? [];
  return presentCommits(git, [...new Set(hashes)]);
}

async function presentCommits(git: GitRepository, hashes: readonly string[]): Promise<readonly string[]> {
  if (hashes.length === 0) return [];
  if (await isPartial(git)) {
    const { stdout } = await git.run({ words: ['rev-list', '--all', 'HEAD'], access: 'read' });
    const local = new Set(stdout.toString('latin1').split('\n'));
    return hashes.filter((hash) => local.has(hash));
  }
  const found = await findObjects(
    git,
    hashes.map((hash) => `${hash}^{commit}`),
  );
  return [...new Set(found.flatMap((hash) => hash ?? []))];
}

/** In a partial clone the question for an object that is missing would fetch it. */
async function isPartial(git: GitRepository): Promise<boolean> {
  return (await git.config()).keys().some((key) => /^(?:extensions\.partialclone|remote\..*\.promisor)$/s.test(key));
}

/** More than these are not looked up one by one: they count as not judged. */
const MAX_COMMITS = 1000;

/** Undefined when there are too many. */
export async function commitsSince(
  git: GitRepository,
  tip: string,
  known: readonly string[],
): Promise<readonly AddedCommit[] | undefined> {
  const { stdout } = await git.run({
    words: ['log', '--format=%H %T %P', `--max-count=${MAX_COMMITS + 1}`, '--stdin'],
    access: 'read',
    stdin: rangeInput(tip, known),
    env: BY_OBJECTS,
  });
  const rows = stdout
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  if (rows.length > MAX_COMMITS) return undefined;
  const trees = new Map(rows.map(([hash = '', tree = '']) => [hash, tree]));
  const outside = [...new Set(rows.flatMap(([, , parent]) => parent ?? []).filter((parent) => !trees.has(parent)))];
  const found = await findTrees(git, outside);
  for (const [at, parent] of outside.entries()) trees.set(parent, found[at] ?? '');
  const nothing = emptyTree(await git.config());
  return rows.map(([hash = '', tree = '', parent]) => ({
    hash,
    tree,
    before: parent === undefined || parent === '' ? nothing : (trees.get(parent) ?? ''),
  }));
}

async function findTrees(git: GitRepository, commits: readonly string[]): Promise<readonly (string | undefined)[]> {
  if (commits.length === 0) return [];
  return findObjects(
    git,
    commits.map((commit) => `${commit}^{tree}`),
  );
}

/** For `--stdin` of verbs that walk history: from a commit back to those that are known. */
export function rangeInput(tip: string, known: readonly string[]): string {
  return [tip, ...known.map((hash) => `^${hash}`), ''].join('\n');
}

/** History from the commits themselves: the cached graph beside them is a file that any process can write. */
export const BY_OBJECTS: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.commitGraph',
  GIT_CONFIG_VALUE_0: 'false',
};

/** What any remote had when it was last fetched, as far as the repository says. Good enough for a warning in advance. */
export async function trackedCommits(git: GitRepository): Promise<readonly string[]> {
  const words = ['for-each-ref', '--format=%(objectname)', 'refs/remotes/'];
  const { stdout } = await git.run({ words, access: 'read' });
  return [...new Set(stdout.toString('latin1').split('\n').filter(Boolean))];
}
