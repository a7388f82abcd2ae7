/** One fetch and what it changed, by comparing the references before and after. */
import type { GitRepository } from '../../contracts/git.ts';

export interface FetchRequest {
  readonly remote: string;
  readonly prune: boolean;
  readonly tags: boolean;
}

export interface UpdatedRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

export async function fetchRemote(git: GitRepository, request: FetchRequest): Promise<readonly UpdatedRef[]> {
  const remote = await git.remote(request.remote, 'fetch');
  const before = await trackedRefs(git, remote.name);
  await git.run({
    words: [
      ...['fetch', '--quiet', '--no-auto-maintenance', '--no-recurse-submodules', '--no-write-fetch-head', '--force'],
      ...(request.prune ? ['--prune'] : ['--no-prune']),
      ...(request.tags ? ['--tags'] : []),
      ...(remote.peer === undefined ? [] : [remote.peer.uploadPack]),
      '--end-of-options',
      remote.alias,
      // Said here, because a configured one may point anywhere, local branches included.
      `+refs/heads/*:refs/remotes/${remote.name}/*`,
    ],
    access: 'write',
    remote,
  });
  return differences(before, await trackedRefs(git, remote.name));
}

async function trackedRefs(git: GitRepository, remote: string): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await git.run({
    words: ['for-each-ref', '--format=%(objectname) %(refname) %(symref)', `refs/remotes/${remote}/`, 'refs/tags/'],
    access: 'read',
  });
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  // A symbolic one (origin/HEAD) follows its target and is no news of its own.
  const plain = lines.map((line) => line.split(' ')).filter(([, , symbolic]) => symbolic === '');
  return new Map(plain.map(([hash = '', ref = '']) => [ref, hash]));
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly UpdatedRef[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((ref) => ({ ref, from: before.get(ref) ?? null, to: after.get(ref) ?? null }))
    .filter(({ from, to }) => from !== to);
}
