/** What a sandbox shows of the host: mounts as data, from which the words of bubblewrap and the check inside are made. */
import type { Words } from './bubblewrap-args.ts';
import { emptyFolder, readOnly, writable } from './bubblewrap-args.ts';
import type { BubblewrapProgram } from './bubblewrap-program.ts';

export interface Mount {
  /** Absolute path inside. */
  readonly at: string;
  /** Absolute path on the host; undefined for an empty folder in memory. */
  readonly from?: string;
  readonly writable: boolean;
  /** `device:inode` of what was checked on the host. */
  readonly identity?: string;
}

/** Parents first, so that no mount covers another; of two at the same place the later one counts. */
export function orderMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPlace = new Map(mounts.map((mount) => [mount.at, mount]));
  return [...byPlace.values()].sort((a, b) => depthOf(a.at) - depthOf(b.at));
}

export function mountWords(mounts: readonly Mount[], program: BubblewrapProgram, scratchBytes: number): Words {
  return mounts.flatMap(({ at, from, writable: isWritable }) => {
    if (from === undefined) return emptyFolder(at, program, scratchBytes);
    return isWritable ? writable(from, at) : readOnly(from, at);
  });
}

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function depthOf(path: string): number {
  return path.split('/').length;
}
