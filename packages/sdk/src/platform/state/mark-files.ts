/**
 * Where writers of a journal note how far it is on the disk: `heads/<writer>` in the state folder, one small file each.
 *
 * A file has two slots that are written in turns, in place: a write that a power cut tears leaves the other slot whole.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../descriptors/disk.ts';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { openChecked, readStateFile } from './state-file.ts';

const SLOT_BYTES = 1024;
const SLOTS = 2;
/** Until its first text is on the disk: a file without the prefix always has a text. */
const DRAFT = '.new-';
const syncLater = promisify(fdatasync);

export interface MarkFiles {
  /** The texts in the slots of every file. */
  read(): readonly { readonly name: string; readonly slots: readonly string[] }[];
  /** A new file with this text in its first slot; file and name are on the disk when it returns. */
  create(name: string, text: string): MarkFile;
  remove(name: string): void;
  rename(from: string, to: string): void;
}

export interface MarkFile {
  /** Into the slot that holds the older text; readers see it at once, the disk after a sync. */
  write(text: string): void;
  sync(): Promise<void>;
  syncNow(): void;
  close(): void;
}

/** `openFile`: how files are opened for reading. */
export function createMarkFiles(state: string, openFile: typeof openChecked = openChecked): MarkFiles {
  const folder = join(state, 'heads');
  return {
    read: () =>
      inState(() =>
        namesIn(folder).flatMap((name) => {
          const bytes = readStateFile(join(folder, name), openFile);
          return bytes === undefined ? [] : [{ name, slots: slotsOf(bytes) }];
        }),
      ),
    create: (name, text) =>
      inState(() => {
        const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
        const file = createMark({ draft: join(folder, `${DRAFT}${name}`), path: join(folder, name) }, text);
        syncFolder(folder);
        if (made !== undefined) syncFolder(state);
        return file;
      }),
    remove: (name) => inState(() => rmSync(join(folder, name), { force: true })),
    rename: (from, to) =>
      inState(() => {
        renameSync(join(folder, from), join(folder, to));
        syncFolder(folder);
      }),
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith(DRAFT));
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

function slotsOf(bytes: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, SLOTS * SLOT_BYTES); at += SLOT_BYTES) {
    texts.push(bytes.toString('utf8', at, Math.min(at + SLOT_BYTES, bytes.length)).trimEnd());
  }
  return texts;
}

function createMark({ draft, path }: { draft: string; path: string }, first: string): MarkFile {
  const fd = openChecked(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  let next = 0;
  const write = (text: string): void => {
    const bytes = Buffer.alloc(SLOT_BYTES, ' ');
    if (Buffer.byteLength(text) > SLOT_BYTES) throw new TypeError('Mark is longer than its slot');
    bytes.write(text);
    writeSync(fd, bytes, 0, SLOT_BYTES, next * SLOT_BYTES);
    next = (next + 1) % SLOTS;
  };
  try {
    write(first);
    fdatasyncSync(fd);
    renameSync(draft, path);
  } catch (thrown) {
    closeSync(fd);
    rmSync(draft, { force: true });
    throw thrown;
  }
  return { write, sync: () => syncLater(fd), syncNow: () => fdatasyncSync(fd), close: () => closeSync(fd) };
}
