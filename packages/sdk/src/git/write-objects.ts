/**
 * Writes objects the way git keeps recent ones, each in a file of its own: a sandboxed process costs a hundred times as
 * much.
 */
import { hash as digestOf } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { GitConfig, GitFiles } from '../contracts/git.ts';
import { readLooseObject } from './head-commit.ts';

export interface NewObject {
  readonly type: 'blob' | 'tree' | 'commit';
  readonly bytes: Uint8Array;
}

export interface TreeLine {
  /** Octal, as trees write it: a folder is 40000. */
  readonly mode: string;
  /** One character a byte. */
  readonly name: string;
  readonly hash: string;
}

/** Length of a hash in a repository with SHA-1; those of SHA-256 are longer. */
const SHA1_BYTES = 20;

/** Whether references and objects are plain files, so that git finds what is written beside it. */
export function hasPlainStore(config: GitConfig): boolean {
  const isLogged = config.get('core.logallrefupdates')?.toLowerCase() === 'always';
  return (
    !isLogged &&
    (config.get('extensions.refstorage') ?? 'files').toLowerCase() === 'files' &&
    config.get('core.sharedrepository') === undefined
  );
}

/** Answers the hash of the object. One that is there already is left alone; throws when something else has its name. */
export async function writeObject(files: GitFiles, { type, bytes }: NewObject, hashBytes: number): Promise<string> {
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.byteLength}\0`), bytes]);
  const hash = digestOf(hashBytes === SHA1_BYTES ? 'sha1' : 'sha256', whole, 'hex');
  const known = await readLooseObject(files, hash, bytes.byteLength);
  if (known !== undefined) return hash;
  // Exclusive: a link under that name would lead the bytes somewhere else.
  await files.write(`objects/${hash.slice(0, 2)}/${hash.slice(2)}`, deflateSync(whole), { exclusive: true });
  return hash;
}

/** Names git refuses in trees, in the spellings of other file systems too. */
export const FORBIDDEN_NAME = /^(?:|\.\.?|\.git|git~1)$/i;

/** The lines in the order git wants, in which the name of a folder counts as if a slash followed. */
export function treeBytes(lines: readonly TreeLine[]): Buffer {
  const keyed = lines.map((line) => ({ line, key: line.mode === '40000' ? `${line.name}/` : line.name }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return Buffer.concat(
    keyed.flatMap(({ line: { mode, name, hash } }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(hash, 'hex'),
    ]),
  );
}
