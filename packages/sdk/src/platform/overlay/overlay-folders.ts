/**
 * Folders of overlays in the state folder: one for each process and session, named by its owner, so that what a killed
 * process left is found and removed by the next one.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { unfinishedMakers } from '../commit/redo-log.ts';
import { findNames } from '../descriptors/directory-reader.ts';
import { removeTree } from '../files/remove-tree.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import { isOwnerDead, OWN_TAG } from '../processes/process-identity.ts';
import { kindOf } from '../sandbox/bubblewrap-args.ts';
import { openStateFolder } from '../state/state-folder.ts';

const FOLDER = 'overlays';
const PARTS = ['upper', 'work', 'merged'] as const;

/** For the overlays of one session. Absolute, new and empty. */
export function makeOverlaysFolder(state: string): string {
  const { path } = openStateFolder(join(state, FOLDER));
  const own = join(path, `${OWN_TAG ?? process.pid}_${randomUUID()}`);
  mkdirSync(own, { mode: 0o700 });
  return own;
}

/** For one overlay, with its parts. `mode`: of the workspace, which commands see as that of their own. */
export function makeOverlayFolder(overlays: string, name: string, mode: number): string {
  const folder = join(overlays, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const part of PARTS) mkdirSync(join(folder, part), { mode: 0o700 });
  chmodSync(join(folder, 'upper'), mode);
  return folder;
}

/** Whatever it holds, and however commands set its modes. A folder that is gone is no error. */
export async function removeOverlayFolder(parent: string, name: string): Promise<void> {
  const dirFd = openSync(parent, DIRECTORY_HANDLE);
  try {
    await removeTree({ dirFd, name }, new Pace(undefined));
  } finally {
    closeSync(dirFd);
  }
}

/** Removes those whose process is dead, unless a commit that it began still takes its content from them. Answers how many. */
export async function sweepOverlays(state: string): Promise<number> {
  const folder = join(state, FOLDER);
  if (kindOf(folder) !== 'folder') return 0;
  const dirFd = openSync(folder, DIRECTORY_HANDLE);
  try {
    const needed = unfinishedMakers(state);
    const lost = await findNames(dirFd, (name) => isLost(name.split('_')[0] ?? '', needed));
    for (const name of lost) await removeTree({ dirFd, name }, new Pace(undefined));
    return lost.length;
  } finally {
    closeSync(dirFd);
  }
}

function isLost(owner: string, needed: ReadonlySet<string>): boolean {
  return isOwnerDead(owner) && !needed.has(owner);
}
