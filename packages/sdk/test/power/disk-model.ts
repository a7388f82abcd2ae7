/**
 * A disk that is cut off from power: what was synced is there, of the rest anything may be.
 *
 * A name is on the disk when its folder was synced after the name changed, content when its file was. Nothing else is
 * assumed, also where common file systems do better.
 */
import { basename, dirname } from 'node:path';
import type { Step } from './trace.ts';

interface Pending {
  readonly at: number;
  readonly bytes: Buffer;
}

export class Inode {
  readonly isFolder: boolean;
  data: Buffer = Buffer.alloc(0);
  names = new Map<string, Inode>();
  synced: Buffer = Buffer.alloc(0);
  syncedNames = new Map<string, Inode>();
  /** Writes that no sync has covered. */
  pending: Pending[] = [];

  constructor(isFolder: boolean) {
    this.isFolder = isFolder;
  }
}

interface Covered {
  readonly inode: Inode;
  readonly data: Buffer;
  readonly names: ReadonlyMap<string, Inode>;
  readonly writes: number;
}

export class DiskModel {
  readonly #root: string;
  readonly top = new Inode(true);
  readonly #syncing = new Map<string, Covered>();

  constructor(root: string) {
    this.#root = root;
  }

  find(path: string): Inode | undefined {
    if (path === this.#root) return this.top;
    if (!path.startsWith(`${this.#root}/`)) return undefined;
    let inode: Inode | undefined = this.top;
    for (const name of path.slice(this.#root.length + 1).split('/')) inode = inode?.names.get(name);
    return inode;
  }

  /** True when it concerned this disk. */
  apply(step: Step): boolean {
    switch (step.op) {
      case 'create':
        return this.find(step.path) === undefined && this.#put(step.path, new Inode(false));
      case 'symlink':
        return this.#put(step.path, new Inode(false));
      case 'mkdir':
        return this.#put(step.path, new Inode(true));
      case 'remove':
        return this.#put(step.path, undefined);
      case 'write':
        return this.#write(step.path, step.at, step.bytes);
      case 'truncate':
        return this.#truncate(step.path, step.size);
      case 'sync':
        return step.phase === 'begin' ? this.#beginSync(step.path, step.id) : this.#endSync(step.id);
      case 'say':
        return false;
      default:
        return this.#rename(step);
    }
  }

  #put(path: string, inode: Inode | undefined): boolean {
    const folder = this.find(dirname(path));
    if (folder === undefined) return false;
    if (inode === undefined) folder.names.delete(basename(path));
    else folder.names.set(basename(path), inode);
    return true;
  }

  #rename({ op, from, to }: Step & { op: 'link' | 'rename' | 'exchange' }): boolean {
    const [source, target] = [this.find(from), this.find(to)];
    if (source === undefined) return false;
    this.#put(to, source);
    if (op === 'exchange') this.#put(from, target);
    if (op === 'rename') this.#put(from, undefined);
    return true;
  }

  #write(path: string, at: number | undefined, bytes: Buffer): boolean {
    const inode = this.find(path);
    if (inode === undefined) return false;
    const write = { at: at ?? inode.data.length, bytes };
    inode.data = written(inode.data, write);
    inode.pending.push(write);
    return true;
  }

  #truncate(path: string, size: number): boolean {
    const inode = this.find(path);
    if (inode === undefined) return false;
    inode.data = Buffer.concat([inode.data.subarray(0, size), Buffer.alloc(Math.max(0, size - inode.data.length))]);
    return true;
  }

  #beginSync(path: string, id: string): boolean {
    const inode = this.find(path);
    if (inode === undefined) return false;
    const { data, names, pending } = inode;
    this.#syncing.set(id, { inode, data: Buffer.from(data), names: new Map(names), writes: pending.length });
    return false;
  }

  #endSync(id: string): boolean {
    const covered = this.#syncing.get(id);
    this.#syncing.delete(id);
    if (covered === undefined) return false;
    const { inode, data, names, writes } = covered;
    inode.synced = data;
    inode.syncedNames = new Map(names);
    inode.pending = inode.pending.slice(writes);
    return true;
  }
}

export function written(data: Buffer, { at, bytes }: Pending): Buffer {
  const result = Buffer.alloc(Math.max(data.length, at + bytes.length));
  data.copy(result);
  bytes.copy(result, at);
  return result;
}
