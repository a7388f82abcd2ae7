/**
 * The files and folders that decide what tools may do, and the one answer to whether a tool may touch them.
 *
 * Names are protected wherever they are in a tree. Everything else is protected by identity (`device:inode`), looked up
 * at the moment of use: whatever it is called, wherever it is stored, through links and under a second name (hard link).
 * The folders and links that lead to a governing file may not be moved or replaced either.
 */
import { type BigIntStats, fstatSync, readlinkSync, statSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { LOCK_FILE } from '../../contracts/external.ts';
import type { GoverningPlace } from '../../contracts/governing.ts';
import { isTemporaryName } from '../../contracts/path-text.ts';
import { SANDBOX_RULE, shownPath } from '../descriptors/path-rules.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { tracePath } from '../descriptors/trace-path.ts';
import type { WriteTarget } from '../descriptors/write-target.ts';
import { errnoCode } from '../errno-error.ts';
import { createViewer, type GoverningView, type StandingPlace } from './governing-view.ts';

interface GoverningOptions {
  /** Names that are protected in every folder, in addition to those that always are. */
  readonly names?: readonly string[];
  readonly places?: readonly GoverningPlace[];
}

interface TargetJudgement {
  /** Of the held folder below its root. */
  readonly location: readonly string[];
  /** How the caller spells the target. */
  readonly spelling: string;
  /** `read`: nothing will be changed there. */
  readonly access: 'change' | 'read';
}

/** Names in one held folder, as everything was when it was looked at. Throws E_POLICY. */
export type FolderGuard = (target: Pick<WriteTarget, 'missing' | 'name' | 'existing'>, spelling: string) => void;

/** A walk over a tree asks about every name in it. All of them throw E_POLICY. */
export interface TreeGuard {
  /** One name of the folder with this identity; `stat` is what is there. */
  checkInner(entry: { readonly folder: string; readonly name: string; readonly stat: BigIntStats }, path: string): void;
}

export interface GoverningFiles {
  readonly places: readonly GoverningPlace[];
  /** Throws E_POLICY when the target is a governing file, leads to one, or lies in a governing folder. */
  checkTarget(target: WriteTarget, judgement: TargetJudgement): void;
  /** For many targets that will be changed together: each folder is looked up once. `location`: of the folder below its root. */
  lookAtFolders(): (dirFd: number, location: readonly string[]) => FolderGuard;
  /** As everything is now. `copy`: the tree itself stays as it is. */
  lookAtTree(purpose: 'move' | 'copy' | 'remove'): TreeGuard;
  /** Throws E_POLICY when the open file is one that tools may not read. */
  checkRead(root: Root, fd: number, spelling: string): void;
  /** Tells whether an open file below the root may not be read; undefined where there can be none. */
  secretsIn(root: Root): SecretTest | undefined;
  /** Throws E_POLICY when the folder, found at `location` below its root, is a governing folder or lies in one. */
  checkFolder(dirFd: number, location: readonly string[], spelling: string): void;
  /** Throws E_POLICY when a folder that is to be a root of its own is a governing folder or lies in one. */
  checkRoot(path: string): void;
  /** The same protection, and these places with it. */
  with(places: readonly GoverningPlace[]): GoverningFiles;
  look(): GoverningView;
}

export function createGoverningFiles({ names: given = [], places = [] }: GoverningOptions = {}): GoverningFiles {
  const names = createProtectedNames(given);
  const look = createViewer(places);
  const secretsIn = findSecrets(places.filter(({ access }) => access === 'none').map(({ path }) => path));
  return {
    places,
    look,
    checkTarget(target, { location, spelling, access }) {
      names.check([...location, ...target.missing, target.name], spelling);
      const view = look();
      const isHit =
        access === 'read'
          ? isSecretTarget(target, location, view)
          : isGoverned(target, foldersFrom(target.dirFd, location.length), view);
      if (isHit) throw governed(spelling);
    },
    lookAtFolders() {
      const view = look();
      return (dirFd, location) => {
        const above = foldersFrom(dirFd, location.length);
        let allowed: readonly string[] | undefined;
        return (target, spelling) => {
          // Most names come one after the other from the same folder.
          if (allowed !== target.missing) names.check([...location, ...target.missing], spelling);
          allowed = target.missing;
          names.check([target.name], spelling);
          if (isGoverned(target, above, view)) throw governed(spelling);
        };
      };
    },
    lookAtTree(purpose) {
      const view = look();
      return {
        checkInner({ folder, name, stat }, path) {
          names.check([name], path);
          const own = identityOf(stat);
          const isHit =
            purpose === 'copy'
              ? view.secrets.has(own)
              : view.objects.has(own) || view.way.has(own) || isNamed(view, folder, [name]);
          if (isHit) throw governed(path);
        },
      };
    },
    checkRead(root, fd, spelling) {
      if (secretsIn(root)?.(fd)) throw unreadable(spelling);
    },
    secretsIn,
    checkFolder(dirFd, location, spelling) {
      names.check(location, spelling);
      const { folders } = look();
      if (foldersFrom(dirFd, location.length).some((folder) => folders.has(folder))) throw governed(spelling);
    },
    checkRoot(path) {
      const { folders } = look();
      if (folders.size > 0 && foldersAbove(path).some((folder) => folders.has(folder))) throw governed(path);
    },
    with: (more) => createGoverningFiles({ names: given, places: [...places, ...more] }),
  };
}

/** `above`: identities of the folder that holds the target, and of those above it. */
function isGoverned(
  { existing, missing, name }: Pick<WriteTarget, 'missing' | 'name' | 'existing'>,
  above: readonly string[],
  view: GoverningView,
): boolean {
  const own = existing === undefined ? undefined : identityOf(existing);
  if (own !== undefined && (view.objects.has(own) || view.way.has(own))) return true;
  if (above.some((folder) => view.folders.has(folder))) return true;
  return isNamed(view, above[0], [...missing, name]);
}

function isSecretTarget(target: WriteTarget, location: readonly string[], { secrets }: GoverningView): boolean {
  if (secrets.size === 0) return false;
  if (target.existing !== undefined && secrets.has(identityOf(target.existing))) return true;
  return foldersFrom(target.dirFd, location.length).some((folder) => secrets.has(folder));
}

/** The name a governing file has or would have, also while it is being replaced and where case does not count. */
function isNamed({ places }: GoverningView, folder: string | undefined, names: readonly string[]): boolean {
  const isAt = ({ folder: holder, names: wanted }: StandingPlace): boolean =>
    holder !== undefined &&
    holder === folder &&
    wanted.every((name, at) => foldName(name) === foldName(names[at] ?? ''));
  return places.some(isAt);
}

/** Identities of a held folder and of the `levels` folders above it. */
function foldersFrom(dirFd: number, levels: number): readonly string[] {
  const found: string[] = [];
  for (let level = 0, path = `/proc/self/fd/${dirFd}/.`; level <= levels; level++, path += '/..') {
    found.push(identityOf(statSync(path, { bigint: true })));
  }
  return found;
}

/** Identities of a folder and of all above it. */
function foldersAbove(path: string): readonly string[] {
  const found: string[] = [];
  for (let above = path; ; above += '/..') {
    // What is missing is refused when it is opened.
    const stat = statSync(above, { bigint: true, throwIfNoEntry: false });
    // At the top a folder is its own parent.
    if (stat === undefined || identityOf(stat) === found.at(-1)) return found;
    found.push(identityOf(stat));
  }
}

export function governed(path: string): ToolError {
  return refused(`Path is protected: ${shownPath(path)}`, path, {
    reason: 'governing_file',
    next: 'Leave it to the operator: it decides what tools may do, or leads to a file that does',
  });
}

export function unreadable(path: string): ToolError {
  return refused(`File may not be read: ${shownPath(path)}`, path, {
    reason: 'secret_file',
    next: 'Leave it to the operator: tools may not see tokens, sockets or the state of the runtime',
  });
}

function refused(
  message: string,
  path: string,
  details: { readonly reason: string; readonly next: string },
): ToolError {
  return new ToolError('E_POLICY', message, { path: shownPath(path), details: { rule: SANDBOX_RULE, ...details } });
}

interface ProtectedNames {
  /** Throws E_POLICY when a component of the resolved location is protected. */
  check(location: readonly string[], path: string): void;
}

/** Always protected: hooks and configuration in git's own data run programs, and the lock says which programs may run. */
const ALWAYS_PROTECTED = ['.git', LOCK_FILE];
const ASCII_ONLY = /^[\x00-\x7f]*$/;

/**
 * Names that no file tool may create, change or remove, wherever they are in the tree. Reading them is allowed. Our own
 * temporary names are among them: a sweep would remove what a caller puts there.
 */
function createProtectedNames(names: readonly string[] = []): ProtectedNames {
  for (const name of names) {
    if (name === '' || name.includes('/')) throw new TypeError(`Protected name is not a single name: ${name}`);
  }
  const folded = new Set([...ALWAYS_PROTECTED, ...names].map(foldName));
  return {
    check(location, path) {
      const hit = location.find((component) => folded.has(foldName(component)) || isTemporaryName(component));
      if (hit === undefined) return;
      throw new ToolError('E_POLICY', `Path is protected: ${shownPath(path)}`, {
        path: shownPath(path),
        details: {
          rule: SANDBOX_RULE,
          reason: 'protected_name',
          name: shownPath(hit),
          next: 'Use the tool that owns this data; file tools may only read it',
        },
      });
    },
  };
}

/** Folders that ignore case also ignore invisible characters; both spellings open the same file there. */
function foldName(name: string): string {
  if (ASCII_ONLY.test(name)) return name.toLowerCase();
  // File systems that fold names ignore these.
  return name
    .normalize('NFKD')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

// Governing files that tools may not even read: tokens, sockets, the state folder. Reading is frequent, so nothing is
// looked up for a root that can hold no secret folder when there are no secret files.

/** Whether the open file is secret or lies in a secret folder. */
export type SecretTest = (fd: number) => boolean;

/** `paths` are absolute. Answers undefined for a root that can hold none of them. */
function findSecrets(paths: readonly string[]): (root: Root) => SecretTest | undefined {
  const byRoot = new WeakMap<Root, SecretTest | undefined>();
  return (root) => {
    if (byRoot.has(root)) return byRoot.get(root);
    const relevant = paths.filter((path) => mayMeet(root, path));
    const test: SecretTest | undefined =
      relevant.length === 0 ? undefined : (fd) => relevant.some((path) => isBehind(fd, path));
    byRoot.set(root, test);
    return test;
  };
}

/** A file may be met under any name. A folder is met only by a root that holds it or lies in it. */
function mayMeet(root: Root, path: string): boolean {
  const { object, path: real } = tracePath(path);
  if (object?.isDirectory() !== true) return true;
  return isWithin(real, root.path) || isWithin(root.path, real);
}

function isBehind(fd: number, path: string): boolean {
  try {
    const secret = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (secret === undefined) return false;
    if (!secret.isDirectory()) return identityOf(secret) === identityOf(fstatSync(fd, { bigint: true }));
    return isWithin(readlinkSync(`/proc/self/fd/${fd}`), tracePath(path).path);
  } catch (thrown) {
    // What we may not look at ourselves cannot be behind a descriptor of ours.
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}

/** Both without links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
