/**
 * Several files written, all of them or none.
 *
 * Everything is read and checked before the first write, and every write names the content it replaces. After a failure
 * the files written so far are put back; one that no longer holds our bytes is left alone and named in the refusal.
 */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import type { FileChange, FileContent, Workspace } from '../../contracts/workspace.ts';

export interface PlannedFile {
  readonly path: string;
  readonly before: Pick<FileContent, 'bytes' | 'sha256' | 'mode'> | undefined;
  /** Undefined: the file goes. */
  readonly after: Uint8Array | undefined;
  /** Of a new file. */
  readonly mode?: number;
}

export async function writeAll(
  files: readonly PlannedFile[],
  { workspace, signal }: ToolContext,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  const done: PlannedFile[] = [];
  try {
    for (const file of files) {
      signal.throwIfAborted();
      changes.push(await writeOne(file, workspace));
      done.push(file);
    }
  } catch (thrown) {
    if (done.length === 0) throw thrown;
    throw await undone(thrown, { done, changes }, workspace);
  }
  return changes;
}

async function writeOne({ path, before, after, mode }: PlannedFile, workspace: Workspace): Promise<FileChange> {
  if (after === undefined) {
    const removed = await workspace.removeFile(path, before === undefined ? {} : { expectedSha256: before.sha256 });
    if (removed !== null) return removed;
    throw new ToolError('E_FILE_IO', `File vanished before it was deleted: ${path}`, { path });
  }
  if (before !== undefined) return workspace.writeFile(path, after, { expectedSha256: before.sha256 });
  return workspace.writeFile(path, after, {
    exclusive: true,
    createDirs: true,
    ...(mode === undefined ? {} : { mode }),
  });
}

interface Undoing {
  readonly done: readonly PlannedFile[];
  readonly changes: readonly FileChange[];
}

async function undone(thrown: unknown, { done, changes }: Undoing, workspace: Workspace): Promise<unknown> {
  const left: string[] = [];
  for (const [at, file] of [...done.entries()].reverse()) {
    try {
      await putBack(file, changes[at]?.after?.sha256 ?? null, workspace);
    } catch {
      left.push(file.path);
    }
  }
  if (!isToolError(thrown)) return thrown;
  const details: JsonObject = { ...thrown.details, restored: left.length === 0 };
  const place = thrown.path === undefined ? {} : { path: thrown.path };
  if (left.length === 0) return new ToolError(thrown.code, thrown.message, { ...place, details, cause: thrown });
  return new ToolError(thrown.code, `${thrown.message}; not put back: ${left.join(', ')}`, {
    ...place,
    details: { ...details, not_restored: left, next: 'Read the files named in not_restored and repair them' },
    cause: thrown,
  });
}

async function putBack({ path, before }: PlannedFile, ours: string | null, workspace: Workspace): Promise<void> {
  if (before === undefined) await workspace.removeFile(path, ours === null ? {} : { expectedSha256: ours });
  else await workspace.writeFile(path, before.bytes, { expectedSha256: ours, mode: before.mode });
}
