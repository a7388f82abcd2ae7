/**
 * Hears from the kernel which names in some folders changed. Nothing happens between two questions except that names are
 * collected. A name is about a file or a folder, and says only that it has to be looked at.
 */
import { type FSWatcher, statfsSync, watch } from 'node:fs';
import path from 'node:path';
import { isToolError } from '@tool-runtime/protocol';

export interface News {
  /** Workspace-relative; empty: the root. */
  readonly names: ReadonlySet<string>;
  /** More happened than was collected, or than the kernel keeps: everything has to be looked at. */
  readonly isFlooded: boolean;
}

/** Systems often allow 8,192 for all programs of a user. */
export const MAX_FOLDERS = 4_000;
const MAX_NAMES = 4_000;
/** The kernel drops events beyond 16,384 that wait to be read, without a word that reaches us. */
const MAX_BURST = 8_000;
/** File systems whose other users the kernel does not see: NFS, SMB, CIFS, FUSE, 9P, Ceph, AFS. */
const REMOTE = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f]);
/** The folder is gone, or not for us: nothing in it can be in the index either. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']);
const IGNORE_FILE = '.gitignore';

export class FolderWatch {
  readonly #root: string;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #maxFolders: number;
  #names = new Set<string>();
  #isFlooded = false;
  /** Events read in one turn of the event loop. */
  #burst = 0;
  /** Why nothing is watched. */
  note: string | undefined;

  constructor(root: string | undefined, maxFolders = MAX_FOLDERS) {
    this.#root = root ?? '';
    this.#maxFolders = maxFolders;
    if (root === undefined) this.note = 'nothing to watch was given';
    else if (isRemote(root)) this.note = 'the kernel does not report changes on this file system';
  }

  /** Whether it can be relied on. */
  get isOn(): boolean {
    return this.note === undefined;
  }

  get size(): number {
    return this.#watchers.size;
  }

  get hasNews(): boolean {
    return this.#isFlooded || this.#names.size > 0;
  }

  /** Watches these folders in addition, and those above them. Answers how many were not watched before. */
  add(folders: Iterable<string>): number {
    const before = this.#watchers.size;
    for (const folder of folders) {
      for (let at = folder; this.isOn && !this.#watchers.has(at); at = parentOf(at)) {
        this.#watch(at);
        if (at === '') break;
      }
    }
    return this.#watchers.size - before;
  }

  /** Everything until now is heard of afterwards: the first turn may have begun before the call, the second did not. */
  async listen(): Promise<void> {
    await turn();
    await turn();
  }

  /** What was collected, once. */
  take(): News {
    const news = { names: this.#names, isFlooded: this.#isFlooded };
    this.#names = new Set();
    this.#isFlooded = false;
    return news;
  }

  /** Puts names back that could not be looked at. */
  putBack({ names, isFlooded }: News): void {
    for (const name of names) this.#collect(name);
    this.#isFlooded ||= isFlooded;
  }

  close(): void {
    this.#giveUp('the index is closed');
  }

  #watch(folder: string): void {
    if (this.#watchers.size >= this.#maxFolders) {
      this.#giveUp(`the workspace has more than ${this.#maxFolders} folders`);
      return;
    }
    try {
      const watcher = watch(path.join(this.#root, folder), { persistent: false }, (event, name) =>
        this.#hear(folder, event, name),
      );
      // The folder went away, or its file system did.
      watcher.on('error', () => this.#leave(folder));
      this.#watchers.set(folder, watcher);
    } catch (thrown) {
      if (isToolError(thrown) || !(thrown instanceof Error)) throw thrown;
      const { code = '' } = thrown as NodeJS.ErrnoException;
      if (!ABSENT.has(code)) this.#giveUp(`the system refused to watch more folders: ${code}`);
      else if (folder === '') this.#giveUp(`the workspace cannot be watched: ${code}`);
    }
  }

  #hear(folder: string, event: string, name: string | null): void {
    if (this.#burst === 0) setImmediate(() => (this.#burst = 0));
    this.#burst += 1;
    if (name === null || this.#burst > MAX_BURST) this.#isFlooded = true;
    if (name === null || (name.startsWith('.') && name !== IGNORE_FILE)) return;
    const found = folder === '' ? name : `${folder}/${name}`;
    if (event === 'rename' && this.#watchers.has(found)) this.#leave(found);
    else this.#collect(found);
  }

  /** Another folder may have the name by now: it is entered again when the name is looked at. */
  #leave(folder: string): void {
    for (const [name, watcher] of this.#watchers) {
      if (name !== folder && !name.startsWith(`${folder}/`)) continue;
      watcher.close();
      this.#watchers.delete(name);
    }
    this.#collect(folder);
  }

  #collect(name: string): void {
    if (this.#names.size < MAX_NAMES) this.#names.add(name);
    else this.#isFlooded = true;
  }

  #giveUp(note: string): void {
    this.note = note;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#names.clear();
  }
}

function isRemote(root: string): boolean {
  try {
    return REMOTE.has(statfsSync(root).type);
  } catch {
    return true;
  }
}

function parentOf(folder: string): string {
  return folder.slice(0, Math.max(folder.lastIndexOf('/'), 0));
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
