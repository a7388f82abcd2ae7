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
import type { ProtectedPath } from '../../contracts/commands.ts';
import { LOCK_FILE } from '../../contracts/external.ts';
import { failure } from '../../contracts/failures.ts';
import { type DirectoryEntry, openSubdirectory, renameEntry, statEntry } from '../descriptors/directory-entry.ts';
import { type HeldPath, holdBelow, namesOf, tryHoldBelow } from '../descriptors/held-path.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { isBelow, type Mount } from './sandbox-mounts.ts';
import { mountChanged } from './verify-mounts.ts';

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
  /** What is mounted in its place, where writes are to go elsewhere. */
  readonly overlay?: { readonly from: string; readonly fd: number };
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
  const watched: WatchedPath[] = [];
  const close = () => {
    for (const { fd } of held.splice(0)) closeSync(fd);
  };
  const done: View[] = [];
  const protect = (view: View): void => {
    const { folder, names } = view;
    const above = done.find((other) => other.folder === folder && `${view.at}/`.startsWith(`${other.at}/`));
    if (above !== undefined && (above.access === 'hide' || view.access === 'read_only')) return;
    const found = tryHoldBelow(folder.fd, names);
    if (found === undefined) {
      requireUnmountable(view);
      // On an overlay it never becomes real: what is collected there leaves protected names out.
      if (folder.writable && folder.overlay === undefined) watched.push(watchPath(folder, names));
      return;
    }
    held.push(found);
    refuseSecondName(pathOf(view), found);
    // What lies in a read-only folder cannot be moved with one.
    if (folder.writable && above === undefined) mounts.push(...ancestorMounts(view, held));
    mounts.push(entryMount(view, found));
    done.push(view);
  };
  try {
    for (const view of paths.flatMap((path) => viewsOf(path, shown)).sort(outerFirst)) unlessChanged(view, protect);
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { mounts, quarantine: () => watched.flatMap((path) => path.moveAside(workspace)), close };
}

/** One place where a protected path can be seen. */
interface View {
  readonly access: ProtectedPath['access'];
  readonly folder: ShownFolder;
  /** Below the folder. */
  readonly names: readonly string[];
  /** Path inside. */
  readonly at: string;
}

/** Of two at the same place the stricter one. */
function outerFirst(a: View, b: View): number {
  return a.at.length - b.at.length || Number(b.access === 'hide') - Number(a.access === 'hide');
}

/** A folder can be shown at several places, and another one may lie over a part of it. */
function viewsOf({ path, access }: ProtectedPath, shown: readonly ShownFolder[]): readonly View[] {
  const around = shown.filter(({ from, writable }) => isBelow(path, from) && (writable || access === 'hide'));
  return around.flatMap((folder) => {
    const names = namesOf(path.slice(folder.from.length));
    const at = join(folder.at, ...names);
    const isCovered = shown.some((other) => isBelow(at, other.at) && isBelow(other.at, folder.at));
    return isCovered ? [] : [{ access, folder, names, at }];
  });
}

/** On the host. */
function pathOf({ folder, names }: View): string {
  return join(folder.from, ...names);
}

/** A name on the way that changes between two steps must not lead to missing protection. */
function unlessChanged(view: View, act: (view: View) => void): void {
  try {
    act(view);
  } catch (thrown) {
    throw errnoCode(thrown) === undefined ? thrown : mountChanged(pathOf(view));
  }
}

function entryMount(view: View, { fd, stat }: HeldPath): Mount {
  const { access, at, folder } = view;
  const path = pathOf(view);
  const late = folder.writable;
  if (access === 'read_only') return { at, late, from: path, writable: false, identity: identityOf(stat) };
  const hidden = { at, late, covered: { fd, path } };
  if (stat.isDirectory()) return { ...hidden, writable: true };
  const identity = identityOf(statSync(NOTHING, { bigint: true }));
  return { ...hidden, from: NOTHING, writable: false, identity };
}

function ancestorMounts({ folder, names }: View, held: HeldPath[]): readonly Mount[] {
  // Writable, so on an overlay they must be its own: the folder below it would take the writes.
  const shown = folder.overlay ?? folder;
  return names.slice(0, -1).map((_, index) => {
    const above = names.slice(0, index + 1);
    const found = holdBelow(shown.fd, above);
    held.push(found);
    const [at, from] = [join(folder.at, ...above), join(shown.from, ...above)];
    return { at, from, writable: true, identity: identityOf(found.stat) };
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

/** Missing, or itself a link. Through a link on the way to it, it would be seen at a place that is not protected. */
function requireUnmountable(view: View): void {
  const { folder, names } = view;
  const isMountable = trace(
    folder.fd,
    names,
    (entry, depth) => depth < names.length - 1 || statEntry(entry)?.isSymbolicLink() === false,
  );
  if (isMountable === true) throw mountChanged(pathOf(view));
}

interface WatchedPath {
  /** Answers the new path, relative to the workspace where it lies there. */
  moveAside(workspace: string): readonly string[];
}

interface Folder {
  readonly from: string;
  /** Stays open as long as the path is watched. */
  readonly fd: number;
}

const TRIES = 10;
const CHANGED_MEANWHILE = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * A path at which nothing may appear: what it leads to is remembered, and when it leads elsewhere later, the name that
 * makes it do so is moved aside. Everything goes through descriptors, so names that change meanwhile lead nowhere else.
 */
function watchPath(folder: Folder, names: readonly string[]): WatchedPath {
  const before = trace(folder.fd, names, keyOf);
  const moveOnce = (workspace: string): readonly string[] => {
    const moved = trace(folder.fd, names, (entry, depth) => {
      if (keyOf(entry, depth) === before) return [];
      const aside = `quarantined-${randomBytes(4).toString('hex')}-${entry.name.replace(/^\./, '')}`;
      renameEntry(entry, { dirFd: entry.dirFd, name: aside });
      const path = join(folder.from, ...names.slice(0, depth), aside);
      return [isBelow(path, workspace) ? relative(workspace, path) : path];
    });
    return moved ?? [];
  };
  return { moveAside: (workspace) => retried(() => moveOnce(workspace)) ?? [] };
}

/** Commands that still run may change names while we look; so may another one that ended and moves the same aside. */
function retried<Answer>(act: () => Answer): Answer | undefined {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return act();
    } catch (thrown) {
      if (!CHANGED_MEANWHILE.includes(errnoCode(thrown) ?? '')) throw thrown;
    }
  }
  return undefined;
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
