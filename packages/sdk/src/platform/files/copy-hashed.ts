/** Bytes from one descriptor to another, hashed on the way, without holding up the event loop. */
import type { Hash } from 'node:crypto';
import { closeSync, fchmodSync, read, write } from 'node:fs';
import { promisify } from 'node:util';

const CHUNK = 1024 * 1024;
const readChunk = promisify(read);
const writeChunk = promisify(write);

export interface HashedCopy {
  readonly source: number;
  /** Closed when the copy is done, whatever came of it. */
  readonly target: number;
  /** Of the finished file. */
  readonly mode: number;
  readonly maxBytes: number;
  readonly hash: Hash;
}

/** Undefined when there is more than may be copied. */
export async function copyHashed({ source, target, mode, maxBytes, hash }: HashedCopy) {
  const buffer = Buffer.allocUnsafe(CHUNK);
  try {
    for (let bytes = 0; ; ) {
      const { bytesRead } = await readChunk(source, buffer, 0, CHUNK, bytes);
      if (bytesRead === 0) {
        fchmodSync(target, mode);
        return { digest: `sha256:${hash.digest('hex')}`, bytes };
      }
      bytes += bytesRead;
      if (bytes > maxBytes) return undefined;
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      for (let done = 0; done < chunk.length; ) done += (await writeChunk(target, chunk, done)).bytesWritten;
    }
  } finally {
    closeSync(target);
  }
}
