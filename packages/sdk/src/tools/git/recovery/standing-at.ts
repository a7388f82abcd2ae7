/** What really is where git is going to write: a folder counts for all it holds, a file for the folder it blocks. */
import type { Workspace } from '../../../contracts/workspace.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { createLooker } from './look-at.ts';
import { type RawPath, toPlain, toRaw, toShown } from './raw-path.ts';

export async function standingAt(
  { workspace }: { readonly workspace: Workspace },
  paths: readonly RawPath[],
  { repositories }: { readonly repositories: 'leave' | 'refuse' },
): Promise<ReadonlySet<RawPath>> {
  const looker = createLooker(workspace);
  const found = new Set<RawPath>();
  for (const path of paths) {
    const plain = toPlain(path);
    if (plain === undefined) {
      found.add(path);
      continue;
    }
    const above = await looker.blockOf(plain);
    const stat = await looker.at(plain);
    if (above !== undefined) found.add(toRaw(above));
    else if (stat?.type === 'directory') for (const file of await looker.below(plain)) found.add(toRaw(file));
    else if (stat !== null) found.add(path);
  }
  const inner = [...found].filter((path) => INSIDE_GIT.test(path));
  if (inner[0] !== undefined && repositories === 'refuse') throw repositoryInTheWay(inner[0]);
  for (const path of inner) found.delete(path);
  return found;
}

const INSIDE_GIT = /(?:^|\/)\.git(?:\/|$)/i;

/** It cannot be saved with the rest: a repository is no content of another one. */
function repositoryInTheWay(path: RawPath) {
  const folder = toShown(path.replace(/\/\.git(?:\/.*)?$/is, ''));
  return gitFailure(`A repository is where a file must be written: ${folder}`, {
    path: folder,
    reason: 'in_the_way',
    next: 'move it away first',
  });
}
