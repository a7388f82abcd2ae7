/**
 * The commit HEAD names, read from git's own files where it lies there plainly: after every commit it does, and a process
 * behind a wall costs a hundred times as much. Packed, in a linked work tree or stored otherwise: git is asked.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { GitFiles, GitRepository } from '../contracts/git.ts';
import { findObjects } from './resolve-revisions.ts';

export interface HeadCommit {
  readonly hash: string;
  readonly tree: string;
  /** Its first; null for the first commit of all. */
  readonly parent: string | null;
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const COMMIT = /^commit \d+\0tree ([0-9a-f]+)\n(?:parent ([0-9a-f]+)\n)?/;
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
  const packed = await readIfFile(files, `objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
  const [, tree, parent = null] = COMMIT.exec(unpacked(packed, hash)) ?? [];
  return tree === undefined ? undefined : { hash, tree, parent };
}

async function readLine(files: GitFiles, name: string): Promise<string> {
  return (await readIfFile(files, name))?.toString('utf8').trim() ?? '';
}

/** A folder of branches, a link that leads out, a name no file can have: git says better what is wrong with it. */
async function readIfFile(files: GitFiles, name: string): Promise<Buffer | undefined> {
  try {
    return await files.read(name);
  } catch {
    return undefined;
  }
}

/** Nothing unless the name of the object is its digest: then it is what git would have shown. */
function unpacked(packed: Buffer | undefined, hash: string): string {
  if (packed === undefined) return '';
  try {
    const bytes = inflateSync(packed, { maxOutputLength: MAX_COMMIT_BYTES });
    const actual = createHash(hash.length === 40 ? 'sha1' : 'sha256')
      .update(bytes)
      .digest('hex');
    return actual === hash ? bytes.toString('latin1') : '';
  } catch {
    return '';
  }
}
