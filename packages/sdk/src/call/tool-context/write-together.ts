/** `Workspace.writeAll` of a call: several files in one commit. */
import { ToolError } from '@tool-runtime/protocol';
import { ABSENT, type ChangeHistory, type PathState, type StagedChange } from '../../changes/change-set.ts';
import type { FileChange, FileSnapshot, FileWrite, SessionWorkspace, Workspace } from '../../contracts/workspace.ts';
import { sha256Hex } from '../../platform/digest.ts';

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;

export interface WriteTogether {
  readonly workspace: Workspace;
  readonly history: ChangeHistory;
  readonly locate: SessionWorkspace['locate'];
  readonly isRestored?: boolean | undefined;
}

export async function writeTogether(
  files: readonly FileWrite[],
  { workspace, history, locate, isRestored = false }: WriteTogether,
): Promise<readonly FileChange[]> {
  const staged = new Map<string, StagedChange>();
  const changes: FileChange[] = [];
  for (const file of files) {
    workspace.requireAllowed(file.path, file.bytes === null ? 'delete' : 'write');
    const { location } = locate(file.path, file.bytes === null ? 'themselves' : 'through');
    const before = await stateAt(location, history);
    if (staged.has(location)) throw sameFile(file.path);
    const change = stage(file, location, before);
    for (const folder of await missingFolders(location, history)) staged.set(folder, newFolder(folder));
    staged.set(location, change);
    changes.push({ path: file.path, before: snapshotOf(before), after: snapshotOf(change.after) });
  }
  await history.commit([...staged.values()], { durable: true, isRestored });
  return changes;
}

/** The later one would replace the earlier one without having seen it. */
function sameFile(path: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Two of the paths lead to one file: ${path}`, {
    path,
    details: { reason: 'same_file', next: 'Name the file once, by one of its paths; nothing was changed' },
  });
}

async function stateAt(location: string, { capture, inner }: ChangeHistory): Promise<PathState> {
  const { states } = await capture(inner(location) ?? location, { keep: false, alone: true });
  return states.get(location) ?? ABSENT;
}

function stage(file: FileWrite, location: string, before: PathState): StagedChange {
  const { path, bytes, expectedSha256, mode, forceMode = false } = file;
  const actual = before.kind === 'file' ? before.digest : null;
  if (before.kind === 'folder' || before.kind === 'link' || actual !== expectedSha256) {
    throw new ToolError('E_FILE_IO', `File is not what was expected: ${path}`, {
      path,
      details: {
        reason: 'precondition_failed',
        expected_sha256: expectedSha256,
        actual_sha256: actual,
        next: 'Read the file again and repeat the change on its current content',
      },
    });
  }
  if (bytes === null) return { path: location, before, after: ABSENT };
  const kept = before.kind === 'file' && !forceMode ? before.mode : (mode ?? NEW_FILE_MODE);
  const after: PathState = { kind: 'file', digest: sha256Hex(bytes), size: bytes.length, mode: kept };
  return { path: location, before, after, source: { bytes } };
}

async function missingFolders(location: string, history: ChangeHistory): Promise<readonly string[]> {
  const names = location.split('/');
  const missing: string[] = [];
  for (let depth = names.length - 1; depth > 0; depth--) {
    const folder = names.slice(0, depth).join('/');
    if (history.inner(folder) === undefined || (await stateAt(folder, history)).kind !== 'absent') break;
    missing.push(folder);
  }
  return missing;
}

function newFolder(path: string): StagedChange {
  return { path, before: ABSENT, after: { kind: 'folder', mode: NEW_FOLDER_MODE } };
}

function snapshotOf(state: PathState): FileSnapshot | null {
  return state.kind === 'file' ? { sha256: state.digest, size: state.size, mode: state.mode } : null;
}
