/** What a transaction would change, as rules of the commit phase look at it: its tree against the workspace. */
import type { AddedLine, ChangedFile, ChangeSet, GitRepository } from '../contracts/git.ts';
import type { FileChange, Workspace } from '../contracts/workspace.ts';
import { currentBranch } from '../git/head-commit.ts';
import { compareLines } from '../text/line-diff.ts';

export interface StagedSource {
  readonly changes: readonly FileChange[];
  /** The tree. */
  readonly staged: Workspace;
  readonly real: Workspace;
  readonly git: GitRepository;
  readonly signal: AbortSignal;
}

export async function stagedChangeSet({ changes, staged, real, git, signal }: StagedSource): Promise<ChangeSet> {
  const files = changes.filter(isFile).map(changedFile);
  const contents = async function* (wanted: readonly ChangedFile[]) {
    for (const file of wanted) {
      if (file.mode === '000000' || file.mode === '120000') continue;
      const { bytes } = await staged.readFile(file.path, { signal });
      yield { file, bytes };
    }
  };
  return {
    scope: 'worktree',
    branch: await branchOf(git),
    message: undefined,
    files,
    base: undefined,
    tree: undefined,
    contents,
    async addedLines(chosen = files) {
      const added: AddedLine[] = [];
      for await (const { file, bytes } of contents(chosen)) {
        const old = file.kind === 'added' ? [] : linesOf((await real.readFile(file.path, { signal })).bytes);
        added.push(...addedIn(file.path, old, linesOf(bytes)));
      }
      return added;
    },
    tip: undefined,
    passing: async () => [],
    // Commands that check it run on the tree itself.
    worktreeDifferences: async () => [],
  };
}

function isFile({ before, after }: FileChange): boolean {
  return before?.type !== 'directory' && after?.type !== 'directory';
}

function changedFile({ path, before, after }: FileChange): ChangedFile {
  if (after === null) return { path, mode: '000000', blob: undefined, kind: 'deleted' };
  const kind = before === null ? 'added' : 'modified';
  const mode = after.type === 'symlink' ? '120000' : (after.mode & 0o111) === 0 ? '100644' : '100755';
  return { path, mode, blob: undefined, kind, ...(after.sha256 === null ? {} : { sha256: after.sha256 }) };
}

function linesOf(bytes: Uint8Array): readonly string[] {
  return new TextDecoder().decode(bytes).split(/\r?\n/);
}

function addedIn(path: string, old: readonly string[], now: readonly string[]): readonly AddedLine[] {
  const added: AddedLine[] = [];
  let line = 0;
  for (const { mark, line: text } of compareLines(old, now)) {
    if (mark !== '-') line += 1;
    if (mark === '+') added.push({ path, line, text });
  }
  return added;
}

/** Undefined as well where there is no repository. */
async function branchOf(git: GitRepository): Promise<string | undefined> {
  try {
    return await currentBranch(git);
  } catch {
    return undefined;
  }
}
