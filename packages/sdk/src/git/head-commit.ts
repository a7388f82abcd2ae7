/**
 * The commit HEAD names, read from git's own files where it lies there plainly: after every commit it does, and a process
 * behind a wall costs a hundred times as much. Packed, in a linked work tree or stored otherwise: git is asked.
 */
import type { GitFiles, GitRepository } from '../contracts/git.ts';
import { readIfFile, readLooseObject } from './loose-object.ts';
import { findObjects } from './resolve-revisions.ts';

export interface HeadCommit {
  readonly hash: string;
  readonly tree: string;
  /** Its first; null for the first commit of all. */
  readonly parent: string | null;
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const COMMIT = /^tree ([0-9a-f]+)\n(?:parent ([0-9a-f]+)\n)?/;
/** A longer message than any, and little enough to be unpacked at once. */
const MAX_COMMIT_BYTES = 1024 * 1024;

/** Undefined before the first commit. */
export async function headCommit(git: Pick<GitRepository, 'files' | 'run'>): Promise<HeadCommit | undefined> {
  const plain = await readPlainly(git.files);
  if (plain !== undefined) return plain;
  const [hash, tree, parent] = await findObjects(git, ['HEAD', 'HEAD^{tree}', 'HEAD^']);
  return hash === undefined || tree === undefined ? undefined : { hash, tree, parent: parent ?? null };
}

async function readPlainly(files: GitFiles): Promise<HeadCommit | undefined> {
  const head = await readLine(files, 'HEAD');
  const ref = /^ref: (refs\/heads\/.+)$/.exec(head)?.[1];
  const hash = ref === undefined ? head : await readLine(files, ref);
  if (!HASH.test(hash)) return undefined;
  const found = await readLooseObject(files, hash, MAX_COMMIT_BYTES);
  const [, tree, parent = null] = COMMIT.exec(found?.type === 'commit' ? found.bytes.toString('latin1') : '') ?? [];
  return tree === undefined ? undefined : { hash, tree, parent };
}

async function readLine(files: GitFiles, name: string): Promise<string> {
  return (await readIfFile(files, name))?.toString('utf8').trim() ?? '';
}
