/** The bytes of one open file into another: at once when small, else in chunks off the event loop. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fchmodSync, fstatSync, read, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { throwIfAborted } from '../cancellation.ts';
import { SMALL_FILE_BYTES } from '../descriptors/file-content.ts';
import { sha256Hex } from '../digest.ts';

interface CopiedContent {
  readonly bytes: number;
  readonly sha256: string;
}

const CHUNK_BYTES = 1024 * 1024;

const readAt = promisify(read);
const writeAt = promisify(write);

/** A file counts as long as it was when the copy began. The digest is that of what was written. */
export function copyContent(
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): CopiedContent | Promise<CopiedContent> {
  const { size } = fstatSync(from);
  return size <= SMALL_FILE_BYTES ? copyAtOnce(from, to, size) : copyInChunks({ from, to, size }, signal);
}

function copyAtOnce(from: number, to: number, size: number): CopiedContent {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(from, buffer, filled, size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  for (let done = 0; done < filled; ) done += writeSync(to, buffer, done, filled - done);
  return { bytes: filled, sha256: sha256Hex(buffer.subarray(0, filled)) };
}

async function copyInChunks(
  { from, to, size }: { from: number; to: number; size: number },
  signal: AbortSignal | undefined,
): Promise<CopiedContent> {
  const hasher = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let position = 0;
  while (position < size) {
    throwIfAborted(signal);
    const { bytesRead } = await readAt(from, buffer, 0, Math.min(CHUNK_BYTES, size - position), position);
    if (bytesRead === 0) break;
    for (let done = 0; done < bytesRead; ) done += (await writeAt(to, buffer, done, bytesRead - done)).bytesWritten;
    hasher.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return { bytes: position, sha256: hasher.digest('hex') };
}

const CHUNK = 1024 * 1024;
const readChunk = promisify(read);
const writeChunk = promisify(write);

interface HashedCopy {
  readonly source: number;
  /** Closed when the copy is done, whatever came of it. */
  readonly target: number;
  /** Of the finished file. */
  readonly mode: number;
  readonly maxBytes: number;
  readonly hash: Hash;
}

/**
 * Copies from one descriptor to another and hashes on the way, without holding up the event loop. Undefined when there
 * is more than may be copied.
 */
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
