/**
 * Opens and holds everything of the host that a sandbox is to show, and says what each mount must turn out to be.
 *
 * Nothing is resolved here that a program in a sandbox could have changed: the workspace comes from its descriptor, and
 * every other source is a path whose links were resolved when it was checked, opened without following a link.
 */
import { closeSync, fstatSync, readlinkSync } from 'node:fs';
import type { ToolError } from '@tool-runtime/protocol';
import type { HeldWorkspace, ProtectedPath, SandboxRequest } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { holdPath } from '../descriptors/held-path.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { protectEntries, type ShownFolder } from './protected-entries.ts';
import { isBelow, type Mount, orderMounts } from './sandbox-mounts.ts';
import { mountChanged } from './verify-mounts.ts';

/** A path of the host, links resolved, and where it is shown. */
export interface Source {
  readonly from: string;
  readonly at: string;
  readonly writable: boolean;
  /** What it must be. */
  readonly identity?: string;
}

export interface HeldMounts {
  readonly mounts: readonly Mount[];
  /** Answers the new names of what was moved aside, the first time. */
  leave(): readonly string[];
}

/** `sources` in addition to the workspace and the folders of the request; `hidden` must not be seen below any of them. */
export function holdMounts(
  { workspace, writable, folders = [], protectedPaths, overlay }: SandboxRequest,
  { sources, hidden }: { readonly sources: readonly Source[]; readonly hidden: readonly string[] },
): HeldMounts {
  const held: ShownFolder[] = [];
  const close = () => {
    for (const { fd, overlay: over } of held.splice(0))
      for (const each of [fd, over?.fd]) if (each !== undefined) closeSync(each);
  };
  try {
    const root = holdWorkspace(workspace);
    held.push({ ...root, writable });
    if (overlay !== undefined) held[0] = { ...root, writable, overlay: { from: overlay.path, fd: overlay.open() } };
    // What lies in the workspace is shown with it.
    for (const source of sources) if (!isBelow(source.at, workspace.path)) held.push(holdSource(source));
    for (const folder of folders) held.push(holdSource({ ...folder, from: folder.path, at: folder.path }));
    const hiding = hidden.map((path): ProtectedPath => ({ path, access: 'hide' }));
    const entries = protectEntries(workspace.path, held, [...protectedPaths, ...hiding]);
    const own = held.map(({ fd, overlay: over, ...mount }): Mount => {
      const identity = identityOf(fstatSync(over?.fd ?? fd, BIG));
      return { ...mount, from: over?.from ?? mount.from, identity };
    });
    return {
      mounts: orderMounts([...own, ...entries.mounts]),
      leave() {
        // Once: the numbers may be someone else's files by the next time.
        if (held.length === 0) return [];
        try {
          return entries.quarantine();
        } finally {
          entries.close();
          close();
        }
      },
    };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

const BIG = { bigint: true } as const;

/** Throws E_POLICY when the workspace was moved. */
export function requireInPlace(workspace: HeldWorkspace): void {
  closeSync(holdWorkspace(workspace).fd);
}

/** Programs know it by its path, and so does git: where it was moved away, nothing starts. */
function holdWorkspace({ path, open }: HeldWorkspace): Omit<ShownFolder, 'writable'> {
  const fd = open();
  if (readlinkSync(`/proc/self/fd/${fd}`) === path) return { from: path, at: path, fd };
  closeSync(fd);
  throw workspaceMoved(path);
}

function holdSource({ from, at, writable, identity }: Source): ShownFolder {
  const { fd, stat } = hold(from);
  if (identity === undefined || identity === identityOf(stat)) return { from, at, fd, writable };
  closeSync(fd);
  throw mountChanged(from);
}

function hold(path: string) {
  try {
    return holdPath(path);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    throw mountChanged(path);
  }
}

function workspaceMoved(path: string): ToolError {
  return failure('isolation_failure', 'user_action_needed', `Workspace is no longer at its path: ${path}`, {
    details: { reason: 'workspace_moved', next: 'move the folder back, or open the workspace again where it is now' },
  });
}
