/**
 * The tree of an index, made from the index file itself: what `git write-tree` answers, without starting it.
 *
 * Folders nothing was staged in since have their tree noted in the index; only the others are made. An index that says
 * more than names, modes and hashes is left to git. Whether the contents are there is not looked at: `git commit`, which
 * makes the same tree again, refuses when they are not.
 */
import type { GitFiles } from '../contracts/git.ts';
import { IndexEntries } from './index-entries.ts';
import { readIndex } from './read-index.ts';
import { FORBIDDEN_NAME, type TreeLine, treeBytes, writeObject } from './write-objects.ts';

const NEWLINE = 0x0a;
const MODES: ReadonlySet<string> = new Set(['100644', '100755', '120000', '160000']);

/** A folder as the index notes it. */
interface NotedFolder {
  /** Entries of the index in it, at any depth. */
  readonly count: number;
  /** Undefined since something was staged in it. */
  readonly tree: string | undefined;
  readonly folders: ReadonlyMap<string, NotedFolder>;
}

/** Writes the trees that are missing and answers the hash of the topmost. Undefined where git has to be asked. */
export async function writeIndexTree(files: GitFiles, index: Buffer, hashBytes: number): Promise<string | undefined> {
  const facts = readIndex(index, hashBytes);
  if (facts === undefined || !facts.isPlain) return undefined;
  const noted = facts.cachedTree === undefined ? undefined : readNoted(facts.cachedTree, hashBytes);
  const entries = new IndexEntries(facts, hashBytes);
  const maker = new TreeMaker(files, entries, hashBytes);
  const tree = await maker.folder('', noted);
  return entries.isAtEnd ? tree : undefined;
}

class TreeMaker {
  readonly #files: GitFiles;
  readonly #entries: IndexEntries;
  readonly #hashBytes: number;

  constructor(files: GitFiles, entries: IndexEntries, hashBytes: number) {
    this.#files = files;
    this.#entries = entries;
    this.#hashBytes = hashBytes;
  }

  /** `at`: path of the folder with a slash at its end. Undefined where the index contradicts itself or git may object. */
  async folder(at: string, noted: NotedFolder | undefined): Promise<string | undefined> {
    if (noted?.tree !== undefined && this.#entries.skip(noted.count, at)) return noted.tree;
    const lines = new Map<string, TreeLine>();
    while (this.#entries.isBelow(at)) {
      const line = await this.#line(at, noted);
      if (line === undefined || FORBIDDEN_NAME.test(line.name) || lines.has(line.name)) return undefined;
      lines.set(line.name, line);
    }
    return writeObject(this.#files, { type: 'tree', bytes: treeBytes([...lines.values()]) }, this.#hashBytes);
  }

  async #line(at: string, noted: NotedFolder | undefined): Promise<TreeLine | undefined> {
    const { path, mode, hash } = this.#entries.current();
    const slash = path.indexOf('/', at.length);
    if (slash < 0) {
      this.#entries.next();
      return MODES.has(mode) ? { mode, hash, name: path.slice(at.length) } : undefined;
    }
    const name = path.slice(at.length, slash);
    const tree = await this.folder(`${at}${name}/`, noted?.folders.get(name));
    return tree === undefined ? undefined : { mode: '40000', name, hash: tree };
  }
}

/** `name NUL count SP folders LF hash`, each folder followed by those in it. Undefined when it is cut or written otherwise. */
function readNoted(bytes: Buffer, hashBytes: number): NotedFolder | undefined {
  let at = 0;
  const read = (): { readonly name: string; readonly folder: NotedFolder } | undefined => {
    const nameEnd = bytes.indexOf(0, at);
    const lineEnd = nameEnd < 0 ? -1 : bytes.indexOf(NEWLINE, nameEnd);
    const numbers = /^(-?\d+) (\d+)$/.exec(bytes.toString('latin1', nameEnd + 1, Math.max(lineEnd, 0)));
    if (lineEnd < 0 || numbers === null) return undefined;
    const name = bytes.toString('latin1', at, nameEnd);
    const [count, children] = [Number(numbers[1]), Number(numbers[2])];
    at = lineEnd + 1;
    const tree = count < 0 ? undefined : bytes.toString('hex', at, at + hashBytes);
    if (tree !== undefined) at += hashBytes;
    if (at > bytes.length || name.includes('/')) return undefined;
    const folders = new Map<string, NotedFolder>();
    for (let left = children; left > 0; left--) {
      const child = read();
      if (child === undefined) return undefined;
      folders.set(child.name, child.folder);
    }
    return { name, folder: { count, tree, folders } };
  };
  return read()?.folder;
}
