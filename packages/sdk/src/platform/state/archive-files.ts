/**
 * Archives of the journal: files (0600) of the state folder that are written once, under another name until they are
 * whole and on the disk, and never changed after.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../descriptors/disk.ts';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { openChecked } from './state-file.ts';

const ARCHIVE = /^journal-\d+-\d+-[0-9a-f]+\.jsonl\.gz$/;
const DRAFT = /^\.journal-[0-9a-f]{16}\.part$/;

export interface ArchiveFiles {
  create(): Promise<ArchiveDraft>;
  /** Undefined when there is no such file. */
  open(name: string): ArchiveFile | undefined;
  /** Names of archives, in no order. */
  list(): readonly string[];
  /** Names of what is being written, or was when its writer died. */
  drafts(): readonly string[];
  /** A file that is not there is no error. */
  remove(name: string): void;
}

export interface ArchiveDraft {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when all of it is on the disk. */
  finish(): Promise<{ readonly sha256: string; readonly bytes: number }>;
  /** Gives the finished file its name, and that is on the disk too; replaces a file of that name. */
  place(name: string): void;
  /** Removes what was not placed. Never throws. */
  discard(): Promise<void>;
}

/** Read in pieces, so that no archive has to fit into memory. */
export interface ArchiveFile {
  readonly size: number;
  /** Fewer bytes only at the end of the file. */
  read(offset: number, length: number): Buffer;
  close(): void;
}

/** `openFile` decides which files are safe to read. */
export function createArchiveFiles(folder: string, openFile = openChecked): ArchiveFiles {
  const names = (pattern: RegExp) => inState(() => readdirSync(folder).filter((name) => pattern.test(name)));
  return {
    create: () => createDraft(folder),
    open: (name) => inState(() => openArchive(join(folder, name), openFile)),
    list: () => names(ARCHIVE),
    drafts: () => names(DRAFT),
    remove: (name) => inState(() => rmSync(join(folder, name), { force: true })),
  };
}

async function createDraft(folder: string): Promise<ArchiveDraft> {
  const path = join(folder, `.journal-${randomBytes(8).toString('hex')}.part`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file = await inStateLater(open(path, flags, 0o600));
  const hasher = createHash('sha256');
  let bytes = 0;
  return {
    async write(chunk) {
      await inStateLater(file.appendFile(chunk));
      hasher.update(chunk);
      bytes += chunk.length;
    },
    async finish() {
      await inStateLater(file.sync());
      await file.close();
      return { sha256: hasher.digest('hex'), bytes };
    },
    place: (name) =>
      inState(() => {
        renameSync(path, join(folder, name));
        syncFolder(folder);
      }),
    discard: () => discard(file, path),
  };
}

async function discard(file: FileHandle, path: string): Promise<void> {
  try {
    await file.close();
    rmSync(path, { force: true });
  } catch {
    // What is left has a name that the next rotation clears away.
  }
}

function openArchive(path: string, openFile: typeof openChecked): ArchiveFile | undefined {
  let fd: number;
  try {
    fd = openFile(path, constants.O_RDONLY);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  return {
    size: fstatSync(fd).size,
    read: (offset, length) => inState(() => readPiece(fd, offset, length)),
    close: () => closeSync(fd),
  };
}

function readPiece(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

async function inStateLater<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (thrown) {
    return inState<T>(() => {
      throw thrown;
    });
  }
}
