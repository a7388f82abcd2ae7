/** Reads what expected changes are about: paths of a workspace and, where there is one, the repository. */
import type { GitRepository } from '../../contracts/git.ts';
import type { Reading, SubjectReader } from '../../contracts/rehearsal.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { readGit } from '../../git/read-git.ts';
import { readPath } from './read-path.ts';

const PATH = 'path:';

/** Without a repository its subjects cannot be read. What fails to be read counts as unreadable, whatever the reason. */
export async function subjectReader(
  workspace: Workspace,
  git: Pick<GitRepository, 'run' | 'files'> | undefined,
): Promise<SubjectReader> {
  return {
    root: await rootOf(workspace),
    async read(subject): Promise<Reading | undefined> {
      try {
        if (subject.startsWith(PATH)) return await readPath(workspace, subject.slice(PATH.length));
        return git === undefined ? undefined : await readGit(git, subject);
      } catch {
        // Too large, not readable, no repository any more: then it cannot be compared.
        return undefined;
      }
    },
  };
}

export async function rootOf(workspace: Workspace): Promise<string> {
  return (await workspace.stat('.'))?.identity ?? '';
}
