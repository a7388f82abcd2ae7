/**
 * Governing files on the tree of a transaction. There they have other identities than in the workspace, so they are known by
 * where they are; the commit checks identities again.
 */
import { type BigIntStats, fstatSync, readlinkSync, statSync } from 'node:fs';
import type { Root } from '../descriptors/root.ts';
import { tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';
import { type GoverningFiles, governed, isWithin, type SecretTest, unreadable } from './governing-files.ts';

const BIG = { bigint: true } as const;

/** `workspace`: absolute, without links. The tree itself lies in the state folder, so that says nothing of what is on it. */
export function stagedGoverning(governing: GoverningFiles, workspace: string): GoverningFiles {
  const placed = governing.places.flatMap(({ path, access }) =>
    [...new Set([path, tracePath(path).path])].map((one) => ({ path: one, isSecret: access === 'none' })),
  );
  const inside = placed
    .filter(({ path }) => isWithin(path, workspace))
    .map(({ path, isSecret }) => ({ name: path.slice(workspace.length + 1), isSecret }));
  const secrets = inside.filter(({ isSecret }) => isSecret);
  const secretPaths = placed.filter(({ isSecret }) => isSecret).map(({ path }) => path);
  const secretsIn =
    (root: Root): SecretTest =>
    (fd) =>
      secrets.some(({ name }) => isWithin(readlinkSync(`/proc/self/fd/${fd}`), `${root.path}/${name}`)) ||
      isSecretFile(statOf(fd), secretPaths);
  /** Under another name it has another identity on the tree: moved or copied there, it could be read. */
  const requireNoSecret = (stat: BigIntStats | undefined, spelling: string): void => {
    if (isSecretFile(stat, secretPaths)) throw governed(spelling);
  };
  return {
    ...governing,
    checkTarget(target, judgement) {
      governing.checkTarget(target, judgement);
      const { location, spelling, access } = judgement;
      requireNoSecret(target.existing, spelling);
      requireOutside(access === 'read' ? secrets : inside, [...location, ...target.missing, target.name], spelling);
    },
    lookAtFolders() {
      const look = governing.lookAtFolders();
      return (dirFd, location) => {
        const check = look(dirFd, location);
        return (target, spelling) => {
          check(target, spelling);
          requireNoSecret(target.existing, spelling);
          requireOutside(inside, [...location, ...target.missing, target.name], spelling);
        };
      };
    },
    lookAtTree(purpose) {
      const look = governing.lookAtTree(purpose);
      return {
        checkInner(inner, path) {
          look.checkInner(inner, path);
          requireNoSecret(inner.stat, path);
        },
      };
    },
    checkRead(root, fd, spelling) {
      if (secretsIn(root)(fd)) throw unreadable(spelling);
    },
    secretsIn,
    with: (places) => stagedGoverning(governing.with(places), workspace),
  };
}

function requireOutside(
  places: readonly { readonly name: string }[],
  names: readonly string[],
  spelling: string,
): void {
  const at = names.join('/');
  if (places.some(({ name }) => isWithin(at, name) || isWithin(name, at))) throw governed(spelling);
}

/** Under whatever name: a file that was not changed keeps its number, its size and its times on the tree. */
function isSecretFile(one: BigIntStats | undefined, paths: readonly string[]): boolean {
  if (one?.isFile() !== true) return false;
  return paths.some((path) => {
    const other = statAt(path);
    return (
      other?.isFile() === true && one.ino === other.ino && one.ctimeNs === other.ctimeNs && one.size === other.size
    );
  });
}

function statOf(fd: number): BigIntStats | undefined {
  return unlessUnreadable(() => fstatSync(fd, BIG));
}

function statAt(path: string): BigIntStats | undefined {
  return unlessUnreadable(() => statSync(path, { ...BIG, throwIfNoEntry: false }));
}

function unlessUnreadable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
