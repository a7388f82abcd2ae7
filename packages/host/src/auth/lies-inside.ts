/** Whether a path lies in one of some folders, by identity of the folders above it: links, case and mounts change nothing. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The path itself may be missing, the folders may not. */
export function liesInside(path: string, folders: readonly string[]): boolean {
  const roots = new Set(folders.map((folder) => identityOf(folder)));
  for (let folder = existingFolder(path); ; folder = `${folder}/..`) {
    const identity = identityOf(folder);
    if (identity !== undefined && roots.has(identity)) return true;
    // At the top a folder is its own parent.
    if (identity === undefined || identity === identityOf(`${folder}/..`)) return false;
  }
}

function existingFolder(path: string): string {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (identityOf(folder) !== undefined || folder === dirname(folder)) return folder;
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
