/** What rules look at in a workspace without a repository: every file that is not ignored, as if all of it were new. */
import { isToolError } from '@tool-runtime/protocol';
import type { AddedLine, ChangedFile, ChangeSet } from '../contracts/git.ts';
import type { Workspace } from '../contracts/workspace.ts';
import { readFiles, SHOWN_DIFFERENCES } from './worktree-files.ts';

export interface FolderSource {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export async function folderChanges(message: string | undefined, source: FolderSource): Promise<ChangeSet> {
  const files = await folderFiles(source);
  return {
    scope: 'worktree',
    branch: undefined,
    message,
    base: undefined,
    tree: undefined,
    tip: undefined,
    files,
    contents: (chosen) => readFiles(chosen, source),
    addedLines: (chosen) => allLines(chosen ?? files, source),
    passing: async () => [],
    worktreeDifferences: () => changedSince(files, source),
  };
}

async function folderFiles({ workspace, signal }: FolderSource): Promise<readonly ChangedFile[]> {
  const { paths } = await workspace.list({
    globs: [],
    includeHidden: true,
    includeIgnored: false,
    maxResults: Number.MAX_SAFE_INTEGER,
    signal,
  });
  const files: ChangedFile[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    const file = await readFile(path, workspace);
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** Undefined for a file that is gone, or that tools may not read: it belongs to the runtime, not to the project. */
async function readFile(path: string, workspace: Workspace): Promise<ChangedFile | undefined> {
  try {
    const stat = await workspace.stat(path);
    if (stat?.type === 'symlink') return { path, mode: '120000', blob: undefined, kind: 'added' };
    if (stat?.type !== 'file') return undefined;
    const { sha256 } = await workspace.readFile(path, { maxBytes: 0 });
    const mode = (stat.mode & 0o111) === 0 ? '100644' : '100755';
    return { path, mode, blob: undefined, kind: 'added', sha256 };
  } catch (thrown) {
    if (isToolError(thrown) && (thrown.code === 'E_POLICY' || thrown.details['reason'] === 'ENOENT')) return undefined;
    throw thrown;
  }
}

async function allLines(files: readonly ChangedFile[], source: FolderSource): Promise<readonly AddedLine[]> {
  const lines: AddedLine[][] = [];
  for await (const { file, bytes } of readFiles(files, source)) {
    const texts = new TextDecoder().decode(bytes).split(/\r?\n/);
    lines.push(texts.map((text, index) => ({ path: file.path, line: index + 1, text })));
  }
  return lines.flat();
}

async function changedSince(files: readonly ChangedFile[], source: FolderSource): Promise<readonly string[]> {
  const now = new Map((await folderFiles(source)).map(({ path, mode, sha256 }) => [path, `${mode} ${sha256}`]));
  return files
    .filter(({ path, mode, sha256 }) => now.get(path) !== `${mode} ${sha256}`)
    .map(({ path }) => path)
    .slice(0, SHOWN_DIFFERENCES);
}
