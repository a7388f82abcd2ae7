/** The bytes of one open file into another: at once when small, else in chunks off the event loop. */
import { createHash } from 'node:crypto';
import { fstatSync, read, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { throwIfAborted } from '../cancellation.ts';
import { SMALL_FILE_BYTES } from '../descriptors/file-content.ts';
import { sha256Hex } from '../digest.ts';

export interface CopiedContent {
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
