/**
 * Governing files on the tree of a transaction. There they have other identities than in the workspace, so they are known by
 * where they are; the commit checks identities again.
 */
import { fstatSync, readlinkSync, statSync } from 'node:fs';
import type { Root } from '../descriptors/root.ts';
import { tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';
import { type GoverningFiles, governed, isWithin, type SecretTest, unreadable } from './governing-files.ts';

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
      secretPaths.some((path) => isSameFile(fd, path));
  return {
    ...governing,
    checkTarget(target, judgement) {
      governing.checkTarget(target, judgement);
      const { location, spelling, access } = judgement;
      requireOutside(access === 'read' ? secrets : inside, [...location, ...target.missing, target.name], spelling);
    },
    lookAtFolders() {
      const look = governing.lookAtFolders();
      return (dirFd, location) => {
        const check = look(dirFd, location);
        return (target, spelling) => {
          check(target, spelling);
          requireOutside(inside, [...location, ...target.missing, target.name], spelling);
        };
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
function isSameFile(fd: number, path: string): boolean {
  try {
    const [one, other] = [fstatSync(fd, { bigint: true }), statSync(path, { bigint: true, throwIfNoEntry: false })];
    if (other?.isFile() !== true) return false;
    return one.ino === other.ino && one.ctimeNs === other.ctimeNs && one.size === other.size;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}
