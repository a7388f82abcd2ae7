/** Objects of git that lie in files of their own: what was added or committed lately. */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { GitFiles } from '../contracts/git.ts';

export interface LooseObject {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Undefined when it is packed, elsewhere or larger than `maxBytes`, and unless its digest is its name: then git is to be asked. */
export async function readLooseObject(
  files: GitFiles,
  hash: string,
  maxBytes: number,
): Promise<LooseObject | undefined> {
  const packed = await readIfFile(files, `objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
  return packed === undefined ? undefined : unpacked(packed, hash, maxBytes);
}

/** A folder of branches, a link that leads out, a name no file can have: git says better what is wrong with it. */
export async function readIfFile(files: GitFiles, name: string): Promise<Buffer | undefined> {
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
