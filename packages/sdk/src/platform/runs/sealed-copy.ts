/**
 * A private copy of a program and what it needs, hashed while it is made: what was checked is what runs.
 *
 * The program is opened once, without following a link, and read from that descriptor; whatever happens to its name
 * afterwards concerns nobody. Copies bear the name of the process that made them, so that a later one can tell which
 * were left behind by a crash.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { removeTree } from '../files/remove-tree.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import { currentInstance, isAlive } from '../processes/process-identity.ts';
import { type FilesToSeal, type SealedFiles, sealFiles } from './seal-files.ts';

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
