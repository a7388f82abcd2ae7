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

/** What programs will see of the host: a folder, or a single file. */
export interface ShownFolder {
  /** Path on the host, links resolved. */
  readonly from: string;
  /** Path inside. */
  readonly at: string;
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
    for (const { access, folder, names } of paths.flatMap((path) => viewsOf(path, shown))) {
      const found = tryHoldBelow(folder.fd, names);
      if (found === undefined) {
        if (folder.writable) watched.push({ folder, names, before: trace(folder.fd, names, keyOf) });
        continue;
      }
      held.push(found);
      refuseSecondName(join(folder.from, ...names), found);
      if (folder.writable) mounts.push(...ancestorMounts(folder, names, held));
      mounts.push(entryMount({ access, folder, names }, found));
    }
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { mounts, quarantine: () => watched.flatMap((entry) => moveAside(entry, workspace)), close };
}

/** One place where a protected path can be seen. */
interface View {
  readonly access: ProtectedPath['access'];
  readonly folder: ShownFolder;
  /** Below the folder. */
  readonly names: readonly string[];
}

/** A folder can be shown at several places, and another one may lie over a part of it. */
function viewsOf({ path, access }: ProtectedPath, shown: readonly ShownFolder[]): readonly View[] {
  const around = shown.filter(({ from, writable }) => isBelow(path, from) && (writable || access === 'hide'));
  return around.flatMap((folder) => {
    const names = namesOf(path.slice(folder.from.length));
    const at = join(folder.at, ...names);
    const isCovered = shown.some((other) => isBelow(at, other.at) && isBelow(other.at, folder.at));
    return isCovered ? [] : [{ access, folder, names }];
  });
}

function entryMount({ access, folder, names }: View, { stat }: HeldPath): Mount {
  const at = join(folder.at, ...names);
  if (access === 'read_only') {
    return { at, from: join(folder.from, ...names), writable: false, identity: identityOf(stat) };
  }
  if (stat.isDirectory()) return { at, writable: true };
  return { at, from: NOTHING, writable: false, identity: identityOf(statSync(NOTHING, { bigint: true })) };
}

function ancestorMounts(folder: ShownFolder, names: readonly string[], held: HeldPath[]): readonly Mount[] {
  return names.slice(0, -1).flatMap((_, index) => {
    const above = names.slice(0, index + 1);
    const found = tryHoldBelow(folder.fd, above);
    if (found === undefined) return [];
    held.push(found);
    const [at, from] = [join(folder.at, ...above), join(folder.from, ...above)];
    return [{ at, from, writable: true, identity: identityOf(found.stat) }];
  });
}

/** Git packs and clones link files; what lies in its folders is protected with the folder. */
function refuseSecondName(path: string, { stat }: HeldPath): void {
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
      const path = join(folder.from, ...names.slice(0, depth), aside);
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
