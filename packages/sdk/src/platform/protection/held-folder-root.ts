/** A folder below a root as a root of its own: opened by descriptor, so that no name is looked up twice. */
import { closeSync, readlinkSync } from 'node:fs';
import { explained } from '../descriptors/file-errors.ts';
import { relativePath } from '../descriptors/path-rules.ts';
import { openRoot, type Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { GoverningFiles } from './governing-files.ts';

export interface HeldFolderRoot {
  readonly root: Root;
  /** Where it is on the host. */
  readonly path: string;
  /** Where it is below the outer root, links resolved; `.` for the root itself. */
  readonly prefix: string;
}

/**
 * Undefined when there is no such folder. Throws E_POLICY for a path that leaves the root, and for a governing folder or
 * one inside it. The caller closes the root.
 */
export function heldFolder(outer: Root, folder: string, governing: GoverningFiles): HeldFolderRoot | undefined {
  return explained(folder, () => {
    let fd: number;
    try {
      fd = outer.openBeneath(relativePath(folder), DIRECTORY_HANDLE);
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw thrown;
    }
    try {
      const components = outer.locate(fd);
      if (components === undefined) return undefined;
      governing.checkFolder(fd, components, folder);
      const through = `/proc/self/fd/${fd}`;
      // Through the link of the descriptor, and on to the folder itself.
      const root = openRoot(`${through}/.`, { backend: outer.backend, noteFolder: outer.noteFolder });
      return { root, path: readlinkSync(through), prefix: components.length === 0 ? '.' : components.join('/') };
    } finally {
      closeSync(fd);
    }
  });
}
