/**
 * Removes caches of package managers that were not used for long, or that take too much of the disk.
 *
 * Commands wrote what lies there, and may still be writing: every folder is reached by descriptor, and no link is followed.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type InnerEntry, openSubdirectory, statEntry } from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import { removeTree } from './remove-tree.ts';
import { MAX_DEPTH } from './survey-tree.ts';

export interface CacheLimits {
  /** Last used before this time. Left out: none is too old. */
  readonly usedBeforeMs?: number;
  /** Of all caches of one workspace together. Left out: any size. */
  readonly maxBytes?: number;
}

const CACHES_FOLDER = 'caches';

export async function pruneCaches(state: string, { usedBeforeMs, maxBytes }: CacheLimits): Promise<void> {
  const pace = new Pace(undefined);
  await within(
    () => openSync(join(state, CACHES_FOLDER), DIRECTORY_HANDLE),
    async (folder) => {
      for (const entry of await listEntries(folder)) {
        const used = Number(statEntry(entry)?.mtimeMs ?? 0n);
        if (usedBeforeMs !== undefined && used < usedBeforeMs) await removeTree(entry, pace);
      }
      if (maxBytes !== undefined) await shrink(folder, maxBytes, pace);
    },
  );
}

/** The largest cache goes first: it is filled again by the next command that needs it. */
async function shrink(folder: number, maxBytes: number, pace: Pace): Promise<void> {
  for (const workspace of await listEntries(folder)) {
    await within(
      () => openSubdirectory(workspace),
      async (dirFd) => {
        const caches = await Promise.all(
          (await listEntries(dirFd)).map(async (entry) => ({ entry, bytes: await measure(entry, pace, 1) })),
        );
        let total = caches.reduce((sum, { bytes }) => sum + bytes, 0);
        for (const { entry, bytes } of caches.toSorted((left, right) => right.bytes - left.bytes)) {
          if (total <= maxBytes) break;
          await removeTree(entry, pace);
          total -= bytes;
        }
      },
    );
  }
}

async function measure(entry: InnerEntry, pace: Pace, depth: number): Promise<number> {
  const stat = statEntry(entry);
  if (stat === undefined || depth > MAX_DEPTH) return 0;
  if (!stat.isDirectory()) return Number(stat.blocks) * 512;
  let bytes = Number(stat.blocks) * 512;
  await within(
    () => openSubdirectory(entry),
    async (dirFd) => {
      for (const inner of await listEntries(dirFd)) {
        if (pace.isDue(ENTRY_UNITS)) await pace.pause();
        bytes += await measure(inner, pace, depth + 1);
      }
    },
  );
  return bytes;
}

/** A folder that is gone, or is no longer a folder, holds nothing. */
async function within(open: () => number, use: (dirFd: number) => Promise<void>): Promise<void> {
  let dirFd: number;
  try {
    dirFd = open();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return;
  }
  try {
    await use(dirFd);
  } finally {
    closeSync(dirFd);
  }
}
