/**
 * How one change of files is taken back.
 *
 * What is at a name is looked up before it is changed, and kept when it was a file. Folders and links that are
 * removed or replaced are not kept: a request to take those back is refused.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '../../contracts/workspace.ts';

export type Undo = () => Promise<void>;

export type Original =
  /** `folders`: those on the way that were missing too, the outermost first. */
  { readonly type: 'missing'; readonly folders: readonly string[] } | OriginalFile | { readonly type: 'not_kept' };

interface OriginalFile {
  readonly type: 'file';
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** The name is a link that leads to it. */
  readonly isLinked: boolean;
}

const NOT_KEPT: Original = { type: 'not_kept' };
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** `through`: the change goes through a link to the file behind it, so that file is what counts. */
export async function originalOf(
  workspace: Workspace,
  path: string,
  options: { readonly links: 'through' | 'themselves' },
): Promise<Original> {
  const stat = await workspace.stat(path);
  if (stat === null) return { type: 'missing', folders: await missingFolders(workspace, path) };
  const isKept = stat.type === 'file' || (stat.type === 'symlink' && options.links === 'through');
  if (!isKept || stat.size > MAX_KEPT_BYTES) return NOT_KEPT;
  try {
    const { bytes, mode } = await workspace.readFile(path);
    return { type: 'file', bytes, mode, isLinked: stat.type === 'symlink' };
  } catch (thrown) {
    // Not readable, or a link to nothing: the change itself will say what is wrong, or cannot be taken back.
    if (isToolError(thrown)) return NOT_KEPT;
    throw thrown;
  }
}

/** Folders on the way to a name that do not exist, the outermost first. */
export async function missingFolders(workspace: Workspace, path: string): Promise<readonly string[]> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const missing: string[] = [];
  for (let length = parts.length - 1; length > 0; length--) {
    const folder = parts.slice(0, length).join('/');
    if (parts[length - 1] === '..' || (await workspace.stat(folder)) !== null) break;
    missing.unshift(folder);
  }
  return missing;
}

/** For a name that was written, made or copied to. */
export function undoArrival(workspace: Workspace, path: string, original: Original): Undo | undefined {
  if (original.type === 'not_kept') return undefined;
  return async () => {
    if (original.type === 'missing') await removeArrived(workspace, path, original.folders);
    else await putBack(workspace, path, original);
  };
}

export function undoRemoval(workspace: Workspace, path: string, original: Original): Undo | undefined {
  return original.type === 'file' ? () => putBack(workspace, path, original) : undefined;
}

export function undoMove(
  workspace: Workspace,
  names: { readonly from: string; readonly to: string },
  original: Original,
): Undo | undefined {
  if (original.type === 'not_kept') return undefined;
  return async () => {
    await workspace.move(names.to, names.from, { overwrite: false });
    if (original.type === 'file') await putBack(workspace, names.to, original);
    else await removeEmptyFolders(workspace, original.folders);
  };
}

async function putBack(workspace: Workspace, path: string, original: OriginalFile): Promise<void> {
  const { bytes, mode, isLinked } = original;
  // A link that was copied over the file must not be written through.
  if (!isLinked && (await workspace.stat(path))?.type === 'symlink') await workspace.removeFile(path);
  await workspace.writeFile(path, bytes, { mode, forceMode: true });
}

async function removeArrived(workspace: Workspace, path: string, folders: readonly string[]): Promise<void> {
  await workspace.remove(path, { recursive: true });
  await removeEmptyFolders(workspace, folders);
}

/** Folders that were made on the way, unless something else is in them by now. */
async function removeEmptyFolders(workspace: Workspace, folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    try {
      await workspace.remove(folder, { recursive: false });
    } catch (thrown) {
      // A rule that allows files of a folder need not allow the folder; then it stays, empty.
      if (isToolError(thrown) && (thrown.code === 'E_FILE_IO' || thrown.code === 'E_POLICY')) return;
      throw thrown;
    }
  }
}
