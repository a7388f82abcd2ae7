/**
 * Files of the git folder itself, reached beneath a descriptor of it like everything else.
 *
 * A linked work tree has a folder of its own and shares objects, references and attributes with the others: a name is looked up
 * where git itself would look for it.
 */
import { constants } from 'node:fs';
import { isToolError } from '@tool-runtime/protocol';
import type { GitFiles } from '../../contracts/git.ts';
import type { Durability } from '../../contracts/registry.ts';
import { createDisk, createFullDisk } from '../descriptors/disk.ts';
import { readBytes } from '../descriptors/file-content.ts';
import { explained } from '../descriptors/file-errors.ts';
import { loadNativeCalls, type NativeCalls } from '../descriptors/native-calls.ts';
import { type RelativePath, relativePath } from '../descriptors/path-rules.ts';
import { openRoot, type Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { createWorkspace, type FileWorkspace } from '../files/workspace.ts';
import type { GitFolders } from './git-folders.ts';
import type { GitWrites } from './git-writes.ts';

const MAX_FILE = 512 * 1024 * 1024;

export interface GitFilesOptions {
  readonly writes: Pick<GitWrites, 'begin'>;
  readonly durability: Durability;
}

export function createGitFiles(folders: () => GitFolders, { writes, durability }: GitFilesOptions): GitFiles {
  const disk = durability === 'full' ? createFullDisk() : createDisk();
  let native: NativeCalls | undefined;
  /** Opened for one operation: the folder may be replaced between calls, and a held one would be the old one. */
  function openFor(name: string): Root {
    const { gitDir, commonDir } = folders();
    native ??= loadNativeCalls();
    return openRoot(isForAll(name) ? commonDir : gitDir, { native });
  }
  async function within<T>(name: string, use: (files: FileWorkspace) => T | Promise<T>): Promise<T> {
    const root = openFor(name);
    const files = createWorkspace(root, { disk });
    try {
      return await use(files);
    } finally {
      files.close();
      root.close();
    }
  }
  return {
    async read(name) {
      const path = relativePath(name);
      const root = openFor(name);
      try {
        return await explained(name, () => readPlain(root, path));
      } finally {
        root.close();
      }
    },
    write: (name, bytes, options) =>
      within(name, async (files) => {
        await files.writeFile(name, bytes, { createDirs: true, mode: 0o644, exclusive: options?.exclusive ?? false });
      }),
    replace: (name, bytes) =>
      within(name, async (files) => {
        const { gitDir, commonDir } = folders();
        const write = await writes.begin([isForAll(name) ? commonDir : gitDir]);
        let isClean = false;
        try {
          await files.writeFile(`${name}.lock`, bytes, { mode: 0o644, exclusive: true });
          await files.move(`${name}.lock`, name, { overwrite: true });
          isClean = true;
        } finally {
          await write.end(isClean);
        }
      }),
    remove: (name) =>
      within(name, async (files) => {
        await files.remove(name, { recursive: true });
      }),
    list: (folder) => within(folder, (files) => listBelow(files, folder)),
  };
}

/** Undefined when the file does not exist or is a link. */
async function readPlain(root: Root, path: RelativePath): Promise<Buffer | undefined> {
  try {
    const fd = root.openBeneath(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await readBytes(fd, { maxBytes: MAX_FILE });
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    // The name itself is a link, or there is one on the way that leads out.
    if (code === 'ELOOP' && root.statBeneath(path).isSymbolicLink()) return undefined;
    throw thrown;
  }
}

const FOR_ALL = /^(?:(?:logs\/)?refs|packed-refs|objects|info\/attributes)(?:[/.]|$)/;
const OWN = /^(?:logs\/)?refs\/(?:bisect|rewritten|worktree)(?:\/|$)/;

function isForAll(name: string): boolean {
  return FOR_ALL.test(name) && !OWN.test(name);
}

async function listBelow(files: FileWorkspace, folder: string): Promise<readonly string[]> {
  try {
    const items = await files.readDirectory(folder);
    const names = await Promise.all(
      items.map(({ name, type }) => {
        const path = `${folder}/${name}`;
        return type === 'directory' ? listBelow(files, path) : type === 'file' ? [path] : [];
      }),
    );
    return names.flat();
  } catch (thrown) {
    if (isToolError(thrown) && thrown.code === 'E_FILE_IO') return [];
    throw thrown;
  }
}
