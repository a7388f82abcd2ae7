/**
 * Paths that a command may not change: git's data, the registry, the lock of external tools, and what the runtime adds.
 *
 * What exists is mounted over itself read-only, or covered when it must not be read. The folders on the way to it become
 * mounts as well, because the kernel refuses to rename a mount but not the folder that holds one. What does not exist, or
 * is a link, cannot be mounted: such a name is compared when the command has ended, and what appeared there is moved
 * aside, before it takes effect in a later call.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { ToolError } from '@tool-runtime/protocol';
import type { ProtectedPath } from '../contracts/commands.ts';
import { LOCK_FILE } from '../contracts/external.ts';
import { failure } from '../contracts/failures.ts';
import { type DirectoryEntry, openSubdirectory, renameEntry, statEntry } from './directory-entry.ts';
import { errnoCode } from './errno-error.ts';
import { type HeldPath, namesOf, tryHoldBelow } from './held-path.ts';
import { identityOf } from './root.ts';
import { isBelow, type Mount } from './sandbox-mounts.ts';

/** Names in the root of a workspace. */
const PROTECTED_NAMES = ['.git', 'tool-runtime.yaml', LOCK_FILE];
/** A device on a mount without devices: it can be neither opened nor connected to. */
const NOTHING = '/dev/null';

export function protectedInRoot(workspace: string): readonly ProtectedPath[] {
  return PROTECTED_NAMES.map((name) => ({ path: join(workspace, name), access: 'read_only' }));
}

/** A folder of the host that programs will see at its own path. */
export interface ShownFolder {
  readonly path: string;
  readonly fd: number;
  readonly writable: boolean;
}

export interface ProtectedEntries {
  readonly mounts: readonly Mount[];
  /** Moves aside what appeared at watched paths; answers the new paths, relative to the workspace. */
  quarantine(): readonly string[];
  close(): void;
}

/** Throws E_POLICY for a file that could be reached by another name. */
export function protectEntries(
  workspace: string,
  shown: readonly ShownFolder[],
  paths: readonly ProtectedPath[],
): ProtectedEntries {
  const held: HeldPath[] = [];
  const mounts: Mount[] = [];
  const watched: Watched[] = [];
  const close = () => {
    for (const { fd } of held.splice(0)) closeSync(fd);
  };
  try {
    for (const entry of paths) {
      const folder = folderOf(entry.path, shown);
      if (folder === undefined || (entry.access === 'read_only' && !folder.writable)) continue;
      const names = namesOf(entry.path.slice(folder.path.length));
      const found = tryHoldBelow(folder.fd, names);
      if (found === undefined) {
        if (folder.writable) watched.push({ folder, names, before: trace(folder.fd, names, keyOf) });
        continue;
      }
      held.push(found);
      refuseSecondName(entry, found);
      if (folder.writable) mounts.push(...ancestorMounts(folder, names, held));
      mounts.push(entryMount(entry, found));
    }
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { mounts, quarantine: () => watched.flatMap((entry) => moveAside(entry, workspace)), close };
}

/** The innermost one that shows the path. */
function folderOf(path: string, shown: readonly ShownFolder[]): ShownFolder | undefined {
  const around = shown.filter((folder) => isBelow(path, folder.path));
  return around.sort((a, b) => b.path.length - a.path.length)[0];
}

function entryMount({ path, access }: ProtectedPath, { stat }: HeldPath): Mount {
  if (access === 'read_only') return { at: path, from: path, writable: false, identity: identityOf(stat) };
  if (stat.isDirectory()) return { at: path, writable: true };
  return { at: path, from: NOTHING, writable: false, identity: identityOf(statSync(NOTHING, { bigint: true })) };
}

function ancestorMounts(folder: ShownFolder, names: readonly string[], held: HeldPath[]): readonly Mount[] {
  return names.slice(0, -1).flatMap((_, index) => {
    const above = names.slice(0, index + 1);
    const found = tryHoldBelow(folder.fd, above);
    if (found === undefined) return [];
    held.push(found);
    const path = join(folder.path, ...above);
    return [{ at: path, from: path, writable: true, identity: identityOf(found.stat) }];
  });
}

/** Git packs and clones link files; what lies in its folders is protected with the folder. */
function refuseSecondName({ path }: ProtectedPath, { stat }: HeldPath): void {
  if (!stat.isFile() || stat.nlink <= 1n || namesOf(path).includes('.git')) return;
  throw secondName(path);
}

function secondName(path: string): ToolError {
  return failure('isolation_failure', 'user_action_needed', `Protected file has a second name: ${basename(path)}`, {
    details: {
      reason: 'hard_linked',
      file: path,
      next: 'replace the file with a copy that has one name (cp FILE COPY && mv COPY FILE), then try again',
    },
  });
}

interface Watched {
  readonly folder: ShownFolder;
  readonly names: readonly string[];
  readonly before: string | undefined;
}

function moveAside({ folder, names, before }: Watched, workspace: string): readonly string[] {
  return (
    trace(folder.fd, names, (entry, depth) => {
      if (keyOf(entry, depth) === before) return [];
      const aside = `quarantined-${randomBytes(4).toString('hex')}-${entry.name.replace(/^\./, '')}`;
      try {
        renameEntry(entry, { dirFd: entry.dirFd, name: aside });
      } catch (thrown) {
        // Another command that ended was first, or the name is gone again.
        if (errnoCode(thrown) === 'ENOENT') return [];
        throw thrown;
      }
      const path = join(folder.path, ...names.slice(0, depth), aside);
      return [isBelow(path, workspace) ? relative(workspace, path) : path];
    }) ?? []
  );
}

/** What decides where the path leads: its last name, or the first link on the way. Undefined when it leads nowhere. */
function trace<Answer>(
  folder: number,
  names: readonly string[],
  use: (entry: DirectoryEntry, depth: number) => Answer,
): Answer | undefined {
  const opened: number[] = [];
  try {
    for (const [depth, name] of names.entries()) {
      const entry = { dirFd: opened.at(-1) ?? folder, name };
      const stat = statEntry(entry);
      if (stat === undefined) return undefined;
      if (depth === names.length - 1 || stat.isSymbolicLink()) return use(entry, depth);
      // A file where a folder would have to be: nothing can be read through it.
      if (!stat.isDirectory()) return undefined;
      opened.push(openSubdirectory(entry));
    }
    return undefined;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function keyOf(entry: DirectoryEntry, depth: number): string | undefined {
  const stat = statEntry(entry);
  return stat === undefined ? undefined : `${depth}:${identityOf(stat)}:${stat.ctimeNs}`;
}
