/** The file of a cassette: read whole, written line by line. A line is one write, so a killed process leaves whole lines. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { errnoCode } from '../errno-error.ts';

/** A FIFO planted under the name must not make the open wait; Windows knows neither flag. */
const CAREFUL = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface CassetteLog {
  /** Throws E_FILE_IO when the file would be larger than `maxBytes`. */
  append(line: string): void;
  close(): void;
}

interface LogBounds {
  readonly keep: number;
  readonly maxBytes: number;
}

/** Undefined when there is no such file. Throws E_FILE_IO for what is no regular file, a link, or larger than `maxBytes`. */
export function readCassette(file: string, maxBytes: number): string | undefined {
  const fd = opened(file, constants.O_RDONLY);
  if (fd === undefined) return undefined;
  try {
    const { size } = fstatSync(fd);
    if (size > maxBytes) throw tooLarge(file, maxBytes);
    const bytes = Buffer.alloc(size);
    let read = 0;
    for (let count = 1; count > 0 && read < size; read += count) count = readSync(fd, bytes, read, size - read, read);
    return decoded(file, bytes.subarray(0, read));
  } finally {
    closeSync(fd);
  }
}

function decoded(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(file, 'it is not UTF-8', 'record it again');
  }
}

/** Keeps the first `keep` bytes of the file, and adds to them. Made for its owner alone when it is new. */
export function openCassetteLog(file: string, { keep, maxBytes }: LogBounds): CassetteLog {
  const fd = opened(file, constants.O_WRONLY | constants.O_CREAT) ?? fail(file, 'its folder is missing');
  let at = keep;
  try {
    ftruncateSync(fd, keep);
  } catch (thrown) {
    closeSync(fd);
    throw unusable(file, errnoCode(thrown) ?? 'it cannot be written', 'name another file');
  }
  return {
    append(line) {
      const bytes = Buffer.from(`${line}\n`);
      if (at + bytes.length > maxBytes) throw tooLarge(file, maxBytes);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
      at += bytes.length;
    },
    close: () => closeSync(fd),
  };
}

function opened(file: string, flags: number): number | undefined {
  let fd: number;
  try {
    fd = openSync(file, flags | CAREFUL, 0o600);
  } catch (thrown) {
    const errno = errnoCode(thrown);
    if (errno === 'ENOENT') return undefined;
    if (errno === 'ELOOP') throw unusable(file, 'it is a link', 'name the file itself');
    throw unusable(file, errno ?? 'it cannot be opened', 'check its permissions');
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw unusable(file, 'it is not a regular file', 'name a file');
}

function tooLarge(file: string, maxBytes: number): ToolError {
  return unusable(file, `it is larger than ${maxBytes} bytes`, 'record shorter runs');
}

function fail(file: string, why: string): never {
  throw unusable(file, why, 'create the folder first');
}

function unusable(file: string, why: string, next: string): ToolError {
  return new ToolError('E_FILE_IO', `Cassette cannot be used, because ${why}: ${safeText(file, 300)}`, {
    path: safeText(file, 300),
    details: { gate: 'cassette', reason: 'cassette_unusable', next },
  });
}
