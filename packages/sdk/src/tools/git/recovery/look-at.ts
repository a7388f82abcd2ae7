/**
 * What is at a name, the way git sees the work tree: links are not followed.
 *
 * The workspace follows links to folders inside the root; for git the name of a file beyond one is a missing file.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { FileStat, Workspace } from '../../../contracts/workspace.ts';

export interface Looker {
  /** Null when there is nothing, or nothing git could mean. */
  at(path: string): Promise<FileStat | null>;
  /** The part of the path that is a file or link where a folder would have to be. */
  blockOf(path: string): Promise<string | undefined>;
  /** Files and links below a folder. */
  below(folder: string): Promise<readonly string[]>;
}

type Reading = Pick<Workspace, 'stat' | 'readDirectory'>;

/** Folders are looked at once: use it for one moment only. */
export function createLooker(workspace: Reading): Looker {
  const folders = new Map<string, FileStat | null>();

  async function folderAt(folder: string): Promise<FileStat | null> {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const stat = await statOf(workspace, folder);
    folders.set(folder, stat);
    return stat;
  }

  async function blockOf(path: string): Promise<string | undefined> {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
      const folder = path.slice(0, slash);
      const stat = await folderAt(folder);
      if (stat === null) return undefined;
      if (stat.type !== 'directory') return folder;
    }
    return undefined;
  }

  async function below(folder: string): Promise<readonly string[]> {
    const items = await workspace.readDirectory(folder);
    const names = await Promise.all(
      items.map(({ name, type }) => (type === 'directory' ? below(`${folder}/${name}`) : [`${folder}/${name}`])),
    );
    return names.flat();
  }

  return {
    blockOf,
    below,
    at: async (path) => ((await blockOf(path)) === undefined ? statOf(workspace, path) : null),
  };
}

async function statOf(workspace: Reading, path: string): Promise<FileStat | null> {
  try {
    return await workspace.stat(path);
  } catch (thrown) {
    // A name the workspace does not take stands for nothing git could have written.
    if (isToolError(thrown)) return null;
    throw thrown;
  }
}
