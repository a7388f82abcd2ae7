/** Reads small files that the operator named: bounded, regular files only. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { fileError } from './file-errors.ts';

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

function tooLarge(path: string, maxBytes: number): ToolError {
  return new ToolError('E_FILE_IO', `File is larger than ${maxBytes} bytes: ${path}`, { path });
}
