/**
 * Several files written in one commit: all of them or none, also when the process is killed. Everything is read and
 * checked before, and every write names the content it replaces.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import type { FileChange, FileContent, Workspace } from '../../contracts/workspace.ts';

export interface PlannedFile {
  readonly path: string;
  readonly before: Pick<FileContent, 'sha256'> | undefined;
  /** Undefined: the file goes. */
  readonly after: Uint8Array | undefined;
  /** Of a new file. */
  readonly mode?: number;
}

/** Answers what became of each, in the same order. */
export async function writeAll(
  files: readonly PlannedFile[],
  { workspace, signal }: ToolContext,
): Promise<readonly FileChange[]> {
  signal.throwIfAborted();
  if (files.length > 1 && workspace.writeAll !== undefined) {
    return workspace.writeAll(
      files.map(({ path, before, after, mode }) => ({
        path,
        bytes: after ?? null,
        expectedSha256: before?.sha256 ?? null,
        ...(mode === undefined ? {} : { mode }),
      })),
    );
  }
  const changes: FileChange[] = [];
  // A rehearsal, which writes nothing, has no commit either.
  for (const file of files) changes.push(await writeOne(file, workspace));
  return changes;
}

async function writeOne({ path, before, after, mode }: PlannedFile, workspace: Workspace): Promise<FileChange> {
  if (after === undefined) {
    const removed = await workspace.removeFile(path, before === undefined ? {} : { expectedSha256: before.sha256 });
    if (removed === null) throw new ToolError('E_FILE_IO', `File vanished before it was deleted: ${path}`, { path });
    return removed;
  }
  if (before !== undefined) return workspace.writeFile(path, after, { expectedSha256: before.sha256 });
  const options = { exclusive: true, createDirs: true, ...(mode === undefined ? {} : { mode }) };
  return workspace.writeFile(path, after, options);
}
