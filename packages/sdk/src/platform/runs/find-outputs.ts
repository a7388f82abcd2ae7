/** What a tool left below `outputs/`, for a run whose result does not say. No link is followed. */
import { closeSync } from 'node:fs';
import { type HeldFolder, openBelow } from '../descriptors/held-folder.ts';
import { listEntries } from '../descriptors/list-directory.ts';
import { errnoCode } from '../errno-error.ts';

const OUTPUTS = 'outputs';
const MAX_DEPTH = 32;

/**
 * Paths relative to the run folder, sorted: everything that is no folder, links and pipes too, so that each is judged
 * like an output a tool names itself. Stops after `max` and one more, which says that there are others.
 */
export async function findOutputs({ dirFd }: HeldFolder, max: number): Promise<readonly string[]> {
  const found: string[] = [];
  const folders: string[][] = [[OUTPUTS]];
  for (let parts = folders.pop(); parts !== undefined && found.length <= max; parts = folders.pop()) {
    for (const { name, type } of await entriesOf(dirFd, parts)) {
      // A name that is no UTF-8 cannot be written into a result.
      if (typeof name !== 'string') continue;
      if (type !== 'directory') found.push([...parts, name].join('/'));
      else if (parts.length < MAX_DEPTH) folders.push([...parts, name]);
    }
  }
  return found.sort().slice(0, max + 1);
}

/** Nothing where the folder is missing, a link or no folder. */
async function entriesOf(dirFd: number, parts: readonly string[]) {
  let fd: number | undefined;
  try {
    fd = openBelow(dirFd, parts);
    return await listEntries(fd);
  } catch (thrown) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(errnoCode(thrown) ?? '')) throw thrown;
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
