/**
 * Several files written in one commit: all of them or none, also when the process is killed. Everything is read and
 * checked before, and every write names the content it replaces.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import type { FileContent, Workspace } from '../../contracts/workspace.ts';

export interface PlannedFile {
  readonly path: string;
  readonly before: Pick<FileContent, 'sha256'> | undefined;
  /** Undefined: the file goes. */
  readonly after: Uint8Array | undefined;
  /** Of a new file. */
  readonly mode?: number;
}

export async function writeAll(files: readonly PlannedFile[], { workspace, signal }: ToolContext): Promise<void> {
  signal.throwIfAborted();
  const [only, ...more] = files;
  if (only === undefined) return;
  if (more.length > 0 && workspace.writeAll !== undefined) {
    await workspace.writeAll(
      files.map(({ path, before, after, mode }) => ({
        path,
        bytes: after ?? null,
        expectedSha256: before?.sha256 ?? null,
        ...(mode === undefined ? {} : { mode }),
      })),
    );
    return;
  }
  // A rehearsal, which writes nothing, has no commit either.
  for (const file of files) await writeOne(file, workspace);
}

async function writeOne({ path, before, after, mode }: PlannedFile, workspace: Workspace): Promise<void> {
  if (after === undefined) {
    const removed = await workspace.removeFile(path, before === undefined ? {} : { expectedSha256: before.sha256 });
    if (removed === null) throw new ToolError('E_FILE_IO', `File vanished before it was deleted: ${path}`, { path });
  } else if (before !== undefined) {
    await workspace.writeFile(path, after, { expectedSha256: before.sha256 });
  } else {
    const options = { exclusive: true, createDirs: true, ...(mode === undefined ? {} : { mode }) };
    await workspace.writeFile(path, after, options);
  }
}
