/**
 * Folders of overlays in the state folder: one for each process and session, named by its owner, so that what a killed
 * process left is found and removed by the next one.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { removeTree } from '../files/remove-tree.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import { isOwnerDead, ownerTag } from '../processes/process-identity.ts';
import { openStateFolder } from '../state/state-folder.ts';

const FOLDER = 'overlays';
const PARTS = ['upper', 'work', 'merged'] as const;

/** For the overlays of one session. Absolute, new and empty. */
export function makeOverlaysFolder(state: string): string {
  const { path } = openStateFolder(join(state, FOLDER));
  const own = join(path, `${ownerTag() ?? process.pid}_${randomUUID()}`);
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

/** Names of those whose process is dead. */
export function lostOverlays(state: string): readonly string[] {
  try {
    return readdirSync(join(state, FOLDER)).filter((name) => isOwnerDead(name.split('_')[0] ?? ''));
  } catch (thrown) {
    if (errnoCode(thrown) !== 'ENOENT') throw thrown;
    return [];
  }
}

/** Removes those; answers how many. */
export async function sweepOverlays(state: string): Promise<number> {
  const lost = lostOverlays(state);
  for (const name of lost) await removeOverlayFolder(join(state, FOLDER), name);
  return lost.length;
}
