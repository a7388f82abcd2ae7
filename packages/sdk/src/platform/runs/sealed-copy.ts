/**
 * A private copy of a program and what it needs, hashed while it is made: what was checked is what runs.
 *
 * The program is opened once, without following a link, and read from that descriptor; whatever happens to its name
 * afterwards has no effect. Copies bear the name of the process that made them, so that a later one can tell which
 * were left behind by a crash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { throwIfAborted } from '../cancellation.ts';
import {
  type DirectoryEntry,
  makeDirectory,
  openEntry,
  openSubdirectory,
  setDirectoryMode,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { errnoCode } from '../errno-error.ts';
import { copyHashed } from '../files/copy-content.ts';
import { removeTree } from '../files/remove-tree.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import { currentInstance, isAlive } from '../processes/process-identity.ts';

export interface SealRequest extends FilesToSeal {
  /** A private folder; made when missing. */
  readonly base: string;
}

export interface SealedCopy extends SealedFiles {
  /** Everything of it, and nothing else. */
  readonly folder: string;
  /** Puts a file beside the copy; answers its path. Throws what the file system throws. */
  addFile(name: string, text: string): string;
  remove(): Promise<void>;
}

const FILE_MODE = 0o400;
const OWNED_NAME = /^(\d+)-([0-9a-f]+)-[0-9a-f]{16}$/;

/** Throws E_FILE_IO with `details.reason`: `not_found`, `not_regular` (a link too), `too_large` or `unreadable`. */
export async function sealCopy(request: SealRequest): Promise<SealedCopy> {
  mkdirSync(request.base, { recursive: true, mode: 0o700 });
  const folder = join(request.base, ownedName());
  mkdirSync(folder, { mode: 0o700 });
  const remove = () => removeCopy(request.base, basename(folder));
  try {
    mkdirSync(join(folder, 'bin'), { mode: 0o700 });
    const made = await sealFiles(request, join(folder, 'bin'));
    return { folder, ...made, addFile: (name, text) => addFile(folder, name, text), remove };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

/** Whether anything has the name; what it is shows when it is opened. */
export function programExists(program: string): boolean {
  return lstatSync(program, { throwIfNoEntry: false }) !== undefined;
}

/** Removes what dead processes left. What cannot be removed waits for another time. */
export async function sweepSealedCopies(base: string): Promise<void> {
  for (const name of namesIn(base)) {
    const [, pid = '', birth = ''] = OWNED_NAME.exec(name) ?? [];
    if (pid === '') continue;
    const owner = { id: '', pid: Number(pid), birth: Buffer.from(birth, 'hex').toString('utf8') };
    if (!isAlive(owner)) await removeCopy(base, name).catch(() => undefined);
  }
}

function namesIn(base: string): readonly string[] {
  try {
    return readdirSync(base);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return [];
  }
}

function ownedName(): string {
  const { pid, birth } = currentInstance();
  return `${pid}-${Buffer.from(birth).toString('hex')}-${randomBytes(8).toString('hex')}`;
}

async function removeCopy(base: string, name: string): Promise<void> {
  const dirFd = openSync(base, DIRECTORY_HANDLE);
  try {
    await removeTree({ dirFd, name }, new Pace(undefined));
  } finally {
    closeSync(dirFd);
  }
}

function addFile(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: FILE_MODE, flag: 'wx' });
  return path;
}

interface SealedFiles {
  readonly program: string;
  /** `sha256:` + hex. */
  readonly digest: string;
  /** Relative path → digest of every file that came along. */
  readonly files: Readonly<Record<string, string>>;
}

interface FilesToSeal {
  /** Absolute path of the program. */
  readonly program: string;
  /** Relative to the program's folder: files, and folders with everything in them. */
  readonly files: readonly string[];
  readonly signal?: AbortSignal;
}

const MAX_FILES = 10_000;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;
const [PROGRAM_MODE, SEALED_MODE, FOLDER_MODE] = [0o500, 0o400, 0o500];

class Filling {
  /** Relative path → digest. */
  readonly files = new Map<string, string>();
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  #bytes = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** The digest of what was copied. */
  async copy(from: DirectoryEntry, to: DirectoryEntry, shown: string): Promise<string> {
    throwIfAborted(this.#signal);
    if (++this.#count > MAX_FILES) throw problem('too_large', `More than ${MAX_FILES} files belong to the program`);
    const source = openFile(from, shown);
    try {
      const isProgram = (fstatSync(source).mode & 0o111) !== 0 || shown === '';
      const target = openEntry(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o200);
      const room = MAX_BYTES - this.#bytes;
      const mode = isProgram ? PROGRAM_MODE : SEALED_MODE;
      const copied = await copyHashed({ source, target, mode, maxBytes: room, hash: createHash('sha256') });
      if (copied === undefined) throw problem('too_large', 'Program and its files are too large to be copied');
      this.#bytes += copied.bytes;
      return copied.digest;
    } finally {
      closeSync(source);
    }
  }

  async copyFolder(from: number, to: number, shown: string): Promise<void> {
    for (const { name, type } of await listEntries(from)) {
      const path = `${shown}/${name}`;
      if (typeof name !== 'string') throw problem('not_regular', `Name is not valid text: ${path}`);
      if (type === 'directory') await this.enter({ dirFd: from, name }, { dirFd: to, name }, path);
      else await this.keep({ dirFd: from, name }, { dirFd: to, name }, path);
    }
    setDirectoryMode(to, FOLDER_MODE);
  }

  /** Once, also when two entries of the list reach it. */
  async keep(from: DirectoryEntry, to: DirectoryEntry, shown: string): Promise<void> {
    if (!this.files.has(shown)) this.files.set(shown, await this.copy(from, to, shown));
  }

  async enter(from: DirectoryEntry, to: DirectoryEntry, shown: string): Promise<void> {
    await withFolders(from, to, (source, target) => this.copyFolder(source, target, shown));
  }
}

/**
 * Copies a program and the files it needs into a folder of their own, hashing on the way.
 *
 * Every name is opened below the descriptor of its folder, without following a link; only regular files are copied.
 *
 * Throws E_FILE_IO with `details.reason`: `not_found`, `not_regular` (a link too), `too_large` or `unreadable`.
 */
async function sealFiles({ program, files, signal }: FilesToSeal, bin: string): Promise<SealedFiles> {
  const filling = new Filling(signal);
  const name = basename(program);
  const source = openProgramFolder(program);
  const target = openSync(bin, DIRECTORY_HANDLE);
  try {
    const digest = await filling.copy({ dirFd: source, name }, { dirFd: target, name }, '');
    for (const file of files) await copyListed(filling, file.split('/'), { source, target, shown: '' });
    setDirectoryMode(target, FOLDER_MODE);
    return { program: join(bin, name), digest, files: Object.fromEntries(filling.files) };
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

interface Step {
  readonly source: number;
  readonly target: number;
  readonly shown: string;
}

/** One entry of `files`, component by component. */
async function copyListed(filling: Filling, [name = '', ...rest]: readonly string[], step: Step): Promise<void> {
  const shown = step.shown === '' ? name : `${step.shown}/${name}`;
  const [from, to] = [
    { dirFd: step.source, name },
    { dirFd: step.target, name },
  ];
  if (rest.length > 0) {
    await withFolders(from, to, (source, target) => copyListed(filling, rest, { source, target, shown }));
    return;
  }
  if (isFolder(from)) await filling.enter(from, to, shown);
  else await filling.keep(from, to, shown);
}

async function withFolders(
  from: DirectoryEntry,
  to: DirectoryEntry,
  use: (source: number, target: number) => Promise<void>,
): Promise<void> {
  const source = explained(from.name, () => openSubdirectory(from));
  try {
    makeDirectory(to, 0o700);
    const target = openSubdirectory(to);
    try {
      await use(source, target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

function isFolder(entry: DirectoryEntry): boolean {
  try {
    closeSync(openSubdirectory(entry));
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}

function openProgramFolder(program: string): number {
  return explained(basename(program), () => openSync(dirname(program), DIRECTORY_HANDLE));
}

function openFile(entry: DirectoryEntry, shown: string): number {
  const name = shown === '' ? entry.name : shown;
  const fd = explained(name, () => openEntry(entry, constants.O_RDONLY));
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw problem('not_regular', `Not a regular file: ${name}`);
}

function explained<T>(name: string, open: () => T): T {
  try {
    return open();
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT') throw problem('not_found', `File not found: ${name}`, thrown);
    if (code === 'ELOOP' || code === 'ENOTDIR') throw problem('not_regular', `Not a regular file: ${name}`, thrown);
    throw problem('unreadable', `File cannot be read: ${name} (${code})`, thrown);
  }
}

function problem(reason: string, message: string, cause?: unknown): ToolError {
  return new ToolError('E_FILE_IO', message, { details: { reason }, ...(cause === undefined ? {} : { cause }) });
}
