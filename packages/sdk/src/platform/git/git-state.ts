/** Reads what an unfinished operation left in the git folder, links and all, so that it can be checked before git goes on. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isStateFile, MAX_STATE_FILE, STATE_FOLDERS, type StateEntry } from '../../git/judge-state.ts';
import { errnoCode } from '../errno-error.ts';

/** Entries of the folder itself and of the folders of an operation; nothing is followed. */
export function readState(gitDir: string): readonly StateEntry[] {
  const top = entriesOf(gitDir, '');
  const folders = top.filter(({ name, type }) => type === 'directory' && STATE_FOLDERS.includes(name));
  return [...top, ...folders.flatMap(({ name }) => entriesOf(gitDir, `${name}/`))].map((entry) =>
    entry.type === 'file' && (entry.name.includes('/') || isStateFile(entry.name))
      ? { ...entry, bytes: readPlain(join(gitDir, entry.name)) }
      : entry,
  );
}

function entriesOf(gitDir: string, folder: string): readonly StateEntry[] {
  return readdirSync(join(gitDir, folder)).map((name) => ({
    name: `${folder}${name}`,
    type: typeOf(join(gitDir, folder, name)),
  }));
}

function typeOf(path: string): StateEntry['type'] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return 'file';
  return stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'other';
}

/** Undefined when it is no regular file any more. */
function readPlain(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(stat.size, MAX_STATE_FILE + 1));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}
