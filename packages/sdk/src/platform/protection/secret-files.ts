/**
 * Governing files that tools may not even read: tokens, sockets, the state folder.
 *
 * Reading is frequent, so nothing is looked up for a root that can hold no secret folder when there are no secret files.
 */
import { fstatSync, readlinkSync, statSync } from 'node:fs';
import { identityOf, type Root } from '../descriptors/root.ts';
import { tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';

/** Whether the open file is secret or lies in a secret folder. */
export type SecretTest = (fd: number) => boolean;

/** `paths` are absolute. Answers undefined for a root that can hold none of them. */
export function findSecrets(paths: readonly string[]): (root: Root) => SecretTest | undefined {
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
