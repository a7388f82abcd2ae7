/**
 * The commit and the branch of HEAD, read from git's own files where possible: a sandboxed process costs a hundred
 * times as much. If the commit is packed, in a linked work tree or stored otherwise, git is asked.
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
const COMMIT = /^tree ([0-9a-f]+)\n(?:parent ([0-9a-f]+)\n)?/;
/** Longer than any real message, and small enough to unpack at once. */
const MAX_COMMIT_BYTES = 1024 * 1024;

interface LooseObject {
  readonly type: string;
  readonly bytes: Buffer;
}

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

/**
 * The branch HEAD names, read from git's own file. Undefined when HEAD is detached. The branch may have no commit yet.
 */
export async function currentBranch(git: Pick<GitRepository, 'files'>): Promise<string | undefined> {
  const head = (await git.files.read('HEAD'))?.toString('utf8') ?? '';
  return /^ref: refs\/heads\/(.+?)\s*$/s.exec(head)?.[1];
}

/**
 * Reads an object from its own file, as recent ones are stored. Undefined when it is packed, elsewhere, larger than
 * `maxBytes` or does not match its digest; then ask git.
 */
export async function readLooseObject(
  files: GitFiles,
  hash: string,
  maxBytes: number,
): Promise<LooseObject | undefined> {
  const packed = await readIfFile(files, `objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
  return packed === undefined ? undefined : unpacked(packed, hash, maxBytes);
}

/** A folder of branches, a link that leads out, an impossible name: git gives the better message. */
async function readIfFile(files: GitFiles, name: string): Promise<Buffer | undefined> {
  try {
    return await files.read(name);
  } catch {
    return undefined;
  }
}

const HEADER = /^(\w+) (\d+)$/;
const HEADER_BYTES = 32;

function unpacked(packed: Buffer, hash: string, maxBytes: number): LooseObject | undefined {
  try {
    const whole = inflateSync(packed, { maxOutputLength: maxBytes + HEADER_BYTES });
    const actual = createHash(hash.length === 40 ? 'sha1' : 'sha256')
      .update(whole)
      .digest('hex');
    const end = whole.subarray(0, HEADER_BYTES).indexOf(0);
    const [, type] = HEADER.exec(whole.toString('latin1', 0, Math.max(end, 0))) ?? [];
    return actual === hash && type !== undefined ? { type, bytes: whole.subarray(end + 1) } : undefined;
  } catch {
    return undefined;
  }
}
