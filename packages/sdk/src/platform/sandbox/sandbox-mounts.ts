/** What a sandbox shows of the host: mounts as data, from which the words of bubblewrap and the check inside are made. */
import { isAbsolute, join, normalize } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { SandboxedProgram, SandboxRequest } from '../../contracts/commands.ts';
import type { BubblewrapProgram } from './bubblewrap-args.ts';
import { emptyFolder, readOnly, type Words, writable } from './bubblewrap-args.ts';

/** Where bubblewrap keeps the host's root while it works, beside the new one. */
export const HOST_ROOT = 'oldroot';

/** Exists in the new root once all but the late mounts are made. */
export const PAUSED = 'run/paused';

export interface Mount {
  /** Absolute path inside. */
  readonly at: string;
  /** Absolute path on the host; undefined for an empty folder in memory. */
  readonly from?: string;
  readonly writable: boolean;
  /** `device:inode` of what was checked on the host. */
  readonly identity?: string;
  /** Others can change its place while it is mounted. Never writable. */
  readonly late?: boolean;
  /** What lies below the mount and must not be seen elsewhere: its descriptor, and the path it must still have. */
  readonly covered?: { readonly fd: number; readonly path: string };
}

/** Parents first, so that no mount covers another; of two at the same place the later one counts. */
export function orderMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPlace = new Map(mounts.map((mount) => [mount.at, mount]));
  const isLate = ({ late }: Mount) => Number(late === true);
  return [...byPlace.values()].sort((a, b) => isLate(a) - isLate(b) || depthOf(a.at) - depthOf(b.at));
}

/**
 * Bubblewrap makes or empties a file where it is about to mount one, through whatever link is there at that moment.
 * So before mounts whose place others can change, it lays a read-only copy of the host over its own view of it, which a
 * sandbox never sees, and waits, reading a file for the sandbox, until the writable mounts have been verified.
 */
const BEFORE_LATE: Words = [...readOnly('/', `../${HOST_ROOT}`), '--file', '5', `/${PAUSED}`];

export function mountWords(mounts: readonly Mount[], program: BubblewrapProgram, scratchBytes: number): Words {
  const words = ({ at, from, writable: isWritable }: Mount): Words => {
    if (from === undefined) return emptyFolder(at, program, scratchBytes);
    return isWritable ? writable(from, at) : readOnly(from, at);
  };
  const late = mounts.filter((mount) => mount.late);
  const early = mounts.filter((mount) => !mount.late);
  return [...early.flatMap(words), ...(late.length === 0 ? [] : BEFORE_LATE), ...late.flatMap(words)];
}

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function depthOf(path: string): number {
  return path.split('/').length;
}

/**
 * Where a sandboxed program starts: below the workspace, or in a folder it was lent. Absolute. Throws E_SHELL for an
 * absolute folder that was not lent.
 */
export function startingFolder(
  { cwd }: Pick<SandboxedProgram, 'cwd'>,
  { workspace, folders = [] }: SandboxRequest,
): string {
  if (!isAbsolute(cwd)) return join(workspace.path, cwd);
  const folder = normalize(cwd);
  if (folders.some(({ path }) => folder === path || folder.startsWith(`${path}/`))) return folder;
  throw new ToolError('E_SHELL', 'Folder to start in is not visible in the sandbox', {
    path: 'cwd',
    details: { reason: 'not_visible', next: 'start in a folder of the workspace' },
  });
}
