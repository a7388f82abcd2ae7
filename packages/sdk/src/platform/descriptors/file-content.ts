/**
 * Reading an open file: bytes, size, mode and digest from one descriptor.
 *
 * A file counts as what it was when it was opened: bytes appended later are not read, bytes cut off are not invented.
 * Small files are read at once on the event loop, because the hop to another thread costs twelve times the work.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { ToolError } from '@tool-runtime/protocol';
import type { FileContent, FileSnapshot, MaybePromise, ReadOptions } from '../../contracts/workspace.ts';
import { throwIfAborted } from '../cancellation.ts';
import { sha256Hex } from '../digest.ts';
import { ErrnoError } from '../errno-error.ts';
import { fileError } from './file-errors.ts';

/** About a millisecond of reading and hashing: what the event loop can spare for one call. */
export const SMALL_FILE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 512 * 1024;
/** Reading and hashing more takes longer than a call may. */
const HUGE_FILE_BYTES = 1024 ** 3;
export const PERMISSION_BITS = 0o777;

const readAt = promisify(read);

/**
 * Closes the descriptor in every case. Throws EISDIR or ENXIO for what is no regular file, without waiting for it. `known`: what
 * was just seen of the regular file that is open.
 */
export function readContent(fd: number, options: ReadOptions = {}, known?: OpenFile): MaybePromise<FileContent> {
  let reading: MaybePromise<FileContent> | undefined;
  try {
    reading = readOpen(fd, options, known);
    return reading instanceof Promise ? reading.finally(() => closeSync(fd)) : reading;
  } finally {
    if (!(reading instanceof Promise)) closeSync(fd);
  }
}

/** The same of a file that stays open. */
export function readOpen(fd: number, options: ReadOptions = {}, known = regularFile(fd)): MaybePromise<FileContent> {
  return known.size <= SMALL_FILE_BYTES ? readAtOnce(fd, known, options) : streamContent(fd, known, options);
}

/** The same on the event loop whatever the size. */
export function readOpenSync(fd: number): FileContent {
  return readAtOnce(fd, regularFile(fd), {});
}

/** What the event loop can spare where nothing is hashed. */
const SMALL_WITHOUT_DIGEST_BYTES = 4 * 1024 * 1024;

/** The bytes alone: hashing takes several times as long as reading. Closes the descriptor; undefined for no regular file. */
export async function readBytes(fd: number, { maxBytes }: { readonly maxBytes: number }): Promise<Buffer | undefined> {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(stat.size, maxBytes));
    const isSmall = bytes.length <= SMALL_WITHOUT_DIGEST_BYTES;
    let filled = 0;
    while (filled < bytes.length) {
      const length = isSmall ? bytes.length - filled : Math.min(CHUNK_BYTES, bytes.length - filled);
      const count = isSmall
        ? readSync(fd, bytes, filled, length, filled)
        : (await readAt(fd, bytes, filled, length, filled)).bytesRead;
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

interface OpenFile {
  readonly size: number;
  readonly mode: number;
}

function regularFile(fd: number): OpenFile {
  const { mode, size } = fstatSync(fd);
  const type = mode & constants.S_IFMT;
  if (type !== constants.S_IFREG) throw new ErrnoError(type === constants.S_IFDIR ? 'EISDIR' : 'ENXIO');
  return { size, mode: mode & PERMISSION_BITS };
}

function readAtOnce(fd: number, file: OpenFile, options: ReadOptions): FileContent {
  const { maxBytes = file.size } = options;
  const buffer = Buffer.allocUnsafe(file.size);
  let filled = 0;
  while (filled < file.size) {
    const count = readSync(fd, buffer, filled, file.size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  const whole = filled === buffer.length ? buffer : buffer.subarray(0, filled);
  options.onPiece?.(whole);
  const truncated = filled > maxBytes;
  const bytes = truncated ? whole.subarray(0, maxBytes) : whole;
  return { bytes, size: filled, mode: file.mode, sha256: sha256Hex(whole), truncated };
}

async function streamContent(fd: number, file: OpenFile, options: ReadOptions): Promise<FileContent> {
  const kept = Buffer.allocUnsafe(Math.min(options.maxBytes ?? file.size, file.size));
  const passing = Buffer.allocUnsafe(kept.length < file.size ? CHUNK_BYTES : 0);
  const isPartial = options.isEnough !== undefined && file.size > HUGE_FILE_BYTES;
  const hasher = isPartial ? undefined : createHash('sha256');
  let position = 0;
  while (position < file.size && !(isPartial && position >= kept.length && options.isEnough?.())) {
    throwIfAborted(options.signal);
    const chunk =
      position < kept.length
        ? kept.subarray(position, position + CHUNK_BYTES)
        : passing.subarray(0, Math.min(CHUNK_BYTES, file.size - position));
    const { bytesRead } = await readAt(fd, chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    const piece = chunk.subarray(0, bytesRead);
    hasher?.update(piece);
    options.onPiece?.(piece);
    position += bytesRead;
  }
  return {
    bytes: kept.subarray(0, position),
    size: isPartial ? file.size : position,
    mode: file.mode,
    sha256: hasher?.digest('hex') ?? '',
    truncated: isPartial ? file.size > kept.length : position > kept.length,
    ...(isPartial ? { isPartial } : {}),
  };
}

export function snapshotOf({ sha256, size, mode }: FileContent): FileSnapshot {
  return { sha256, size, mode };
}

/** Reads small files that the operator named: bounded, regular files only. */
export function readOperatorFile(path: string, options: { readonly maxBytes: number }): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new ToolError('E_FILE_IO', `Not a regular file: ${path}`, { path });
    if (stat.size > options.maxBytes) throw tooLarge(path, options.maxBytes);
    // One byte more than it had: a file that grows meanwhile is not read without end.
    const bytes = Buffer.alloc(stat.size + 1);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    if (length > stat.size) throw new ToolError('E_FILE_IO', `File changed while it was read: ${path}`, { path });
    return bytes.toString('utf8', 0, length);
  } catch (thrown) {
    throw fileError(thrown, path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Undefined when there is no such file. */
export function readOperatorFileIfAny(path: string, options: { readonly maxBytes: number }): string | undefined {
  return existsSync(path) ? readOperatorFile(path, options) : undefined;
}

function tooLarge(path: string, maxBytes: number): ToolError {
  return new ToolError('E_FILE_IO', `File is larger than ${maxBytes} bytes: ${path}`, { path });
}
