/**
 * A copy of the repository to break things in. What is installed is linked, not copied, except that the links between
 * our own packages lead into the copy.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { listFiles } from '../structure/read-tree.ts';

export interface WorkCopy {
  readonly folder: string;
  /** For the temporary files of tests: removed with the copy, whatever becomes of the test. */
  readonly scratch: string;
}

/** Below `place`, which must exist and have a short name: sockets are made in it. */
export function makeWorkCopy(root: string, place: string): WorkCopy {
  const copy: WorkCopy = { folder: path.join(place, 'tree'), scratch: path.join(place, 'tmp') };
  mkdirSync(copy.scratch, { recursive: true });
  const files = listFiles(root);
  for (const file of files) cpSync(path.join(root, file), path.join(copy.folder, file));
  for (const folder of installedFolders(root, files)) {
    linkInstalled(path.join(root, folder), path.join(copy.folder, folder));
  }
  return copy;
}

function installedFolders(root: string, files: readonly string[]): string[] {
  return files
    .filter((file) => path.posix.basename(file) === 'package.json')
    .map((file) => path.posix.join(path.posix.dirname(file), 'node_modules'))
    .filter((folder) => existsSync(path.join(root, folder)));
}

function linkInstalled(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (name.startsWith('@')) linkInstalled(source, target);
    else symlinkSync(source, target);
  }
}
