/**
 * Writes a plan, all of it or nothing.
 *
 * Every write names the content it expects, so a file that was changed in the meantime fails the plan. After a failure
 * every file is put back; one that no longer holds our bytes was changed by another program and is left alone, with a warning.
 */
import { hash } from 'node:crypto';
import { type ErrorCode, isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { FileChange, Workspace } from '@tool-runtime/sdk';
import { refuseEdit, throwIfAborted } from './edit-failures.ts';
import type { EditPlan, PlannedFile } from './edit-plan.ts';

export interface Written {
  readonly changes: readonly FileChange[];
  /** Puts every file back. Never throws; answers the paths it could not put back. */
  undo(): Promise<readonly string[]>;
}

const RESTORE_ATTEMPTS = 3;

/** Throws E_AST_EDIT with `file_changed`, `write_failed` or `restore_failed`, or the signal's reason; see `undo`. */
export async function writePlan(
  plan: EditPlan,
  workspace: Workspace,
  signal: AbortSignal | undefined,
): Promise<Written> {
  await requireUnchanged(plan, workspace);
  if (plan.files.length > 1 && workspace.writeAll !== undefined) return writeTogether(plan, workspace, signal);
  const changes: FileChange[] = [];
  const traces: Traces = { modes: new Map(), folders: [] };
  const touched: PlannedFile[] = [];
  const undo = () => restore(touched, workspace, traces);
  for (const file of plan.files) {
    try {
      throwIfAborted(signal);
      touched.push(file);
      changes.push(await write(file, workspace, traces));
    } catch (thrown) {
      // The content of another program, even if it is the same as ours would have been.
      if (isRefused(thrown)) touched.pop();
      throw await failedWrite(thrown, file, undo);
    }
  }
  return { changes, undo };
}

/** One commit: a process that is killed leaves all files written or none. */
async function writeTogether(
  { files }: EditPlan,
  workspace: Workspace,
  signal: AbortSignal | undefined,
): Promise<Written> {
  const traces: Traces = { modes: new Map(), folders: [] };
  for (const { path, after, sha256 } of files) {
    if (sha256 === null) traces.folders.push(...(await missingFolders(path, workspace)));
    const stat = after === null ? await workspace.stat(path) : null;
    if (stat !== null) traces.modes.set(path, stat.mode);
  }
  throwIfAborted(signal);
  try {
    const writes = files.map(({ path, after, sha256 }) => ({ path, bytes: after, expectedSha256: sha256 }));
    const changes = (await workspace.writeAll?.(writes)) ?? [];
    return { changes, undo: () => restoreTogether(files, workspace, traces) };
  } catch (thrown) {
    const path = isToolError(thrown) ? thrown.path : undefined;
    const failed = files.find((file) => file.path === path) ?? files[0];
    throw failed === undefined ? thrown : await failedWrite(thrown, failed, async () => []);
  }
}

/** In one commit too; file by file where some of them were changed since. */
async function restoreTogether(
  files: readonly PlannedFile[],
  workspace: Workspace,
  traces: Traces,
): Promise<readonly string[]> {
  const writes = files.map(({ path, before, after }) => {
    const mode = traces.modes.get(path);
    const ours = after === null ? null : hash('sha256', after);
    return { path, bytes: before, expectedSha256: ours, ...(mode === undefined ? {} : { mode }) };
  });
  await workspace.writeAll?.(writes).catch(() => {});
  return restore(files, workspace, traces);
}

/** Before the first byte is written: most conflicts are found here. */
async function requireUnchanged({ files }: EditPlan, workspace: Workspace): Promise<void> {
  for (const { path, sha256 } of files) {
    if ((await digestOf(path, workspace)) !== sha256) throw fileChanged(path);
  }
}

function fileChanged(path: string): ToolError {
  return refuseEdit('file_changed', `File changed after the edit was planned: ${path}`, {
    path,
    next: 'plan the edit again',
    details: { restored: true },
  });
}

/** The write did not happen because the content was not the expected one. */
function isRefused(thrown: unknown): boolean {
  return isToolError(thrown) && thrown.details['reason'] === 'precondition_failed';
}

/** What must be known to leave no trace. */
interface Traces {
  /** Of removed files. */
  readonly modes: Map<string, number>;
  /** Made for new files, outermost first. */
  readonly folders: string[];
}

async function write(
  { path, after, sha256 }: PlannedFile,
  workspace: Workspace,
  { modes, folders }: Traces,
): Promise<FileChange> {
  if (after !== null) {
    if (sha256 === null) folders.push(...(await missingFolders(path, workspace)));
    return workspace.writeFile(path, after, { expectedSha256: sha256, createDirs: sha256 === null, durable: true });
  }
  const stat = await workspace.stat(path);
  if (stat !== null) modes.set(path, stat.mode);
  const change = await workspace.removeFile(path, sha256 === null ? {} : { expectedSha256: sha256 });
  return change ?? { path, before: null, after: null };
}

async function missingFolders(path: string, workspace: Workspace): Promise<readonly string[]> {
  const names = path.split('/').slice(0, -1);
  const missing: string[] = [];
  for (const [depth] of names.entries()) {
    const folder = names.slice(0, depth + 1).join('/');
    if (missing.length > 0 || (await workspace.stat(folder)) === null) missing.push(folder);
  }
  return missing;
}

async function failedWrite(thrown: unknown, file: PlannedFile, undo: Written['undo']): Promise<ToolError> {
  const left = await undo();
  if (left.length > 0) return restoreFailed(left, thrown);
  if (isToolError(thrown) && thrown.details['kind'] === 'cancellation') return thrown;
  if (isRefused(thrown)) return fileChanged(file.path);
  const cause = isToolError(thrown) ? { code: thrown.code, ...thrown.details, said: thrown.message } : {};
  return refuseEdit('write_failed', `Edit could not be written, nothing was changed: ${file.path}`, {
    path: file.path,
    next: 'look at why the file cannot be written, then plan the edit again',
    details: { restored: true, ...pick(cause) },
    cause: thrown,
  });
}

function pick({
  code,
  said,
  reason,
}: {
  readonly code?: ErrorCode;
  readonly said?: string;
  readonly reason?: unknown;
}): JsonObject {
  return {
    ...(code === undefined ? {} : { cause_code: code }),
    ...(said === undefined ? {} : { said }),
    ...(typeof reason === 'string' ? { cause_reason: reason } : {}),
  };
}

export function restoreFailed(paths: readonly string[], cause: unknown): ToolError {
  return new ToolError(
    'E_AST_EDIT',
    `EDIT FAILED AND COULD NOT BE UNDONE, files are left half edited: ${paths.join(', ')}`,
    {
      details: {
        kind: 'recovery_repair_needed',
        retry: 'repair_needed',
        reason: 'restore_failed',
        unrestored: [...paths],
        next: 'restore these files by hand, from version control or a backup',
      },
      cause,
    },
  );
}

/** Last written first. */
async function restore(
  files: readonly PlannedFile[],
  workspace: Workspace,
  { modes, folders }: Traces,
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const file of files.toReversed()) {
    if (!(await persist(() => putBack(file, workspace, modes)))) left.push(file.path);
  }
  // A folder that got other content meanwhile is not empty and stays; that is no fault.
  for (const folder of folders.toReversed()) {
    await persist(async () => (await workspace.remove(folder, { recursive: false })) !== undefined);
  }
  return left.toReversed();
}

async function persist(work: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < RESTORE_ATTEMPTS; attempt++) if (await work().catch(() => false)) return true;
  return false;
}

/** False when the content is neither what was nor what we wrote. */
async function putBack(
  { path, before, after, sha256 }: PlannedFile,
  workspace: Workspace,
  modes: Traces['modes'],
): Promise<boolean> {
  const now = await digestOf(path, workspace);
  if (now === sha256) return true;
  const ours = after === null ? null : hash('sha256', after);
  if (now !== ours) return false;
  if (before === null) await workspace.removeFile(path, ours === null ? {} : { expectedSha256: ours });
  else {
    const mode = modes.get(path);
    const keep = mode === undefined ? {} : { mode, forceMode: true };
    await workspace.writeFile(path, before, { expectedSha256: ours, durable: true, ...keep });
  }
  return (await digestOf(path, workspace)) === sha256;
}

async function digestOf(path: string, workspace: Workspace): Promise<string | null> {
  const stat = await workspace.stat(path);
  return stat === null ? null : (await workspace.readFile(path, { maxBytes: 0 })).sha256;
}
