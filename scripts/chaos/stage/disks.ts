/**
 * Folders that are small disks of their own, so that they can be filled and made read-only. Only root can have them;
 * without, they are ordinary folders and the faults that need a disk are left out.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Disk {
  /** What is put on it goes in here; the ballast of `fill` lies beside it. */
  readonly folder: string;
  /** Undefined where the folder is no disk of its own. */
  readonly faults: DiskFaults | undefined;
  remove(): void;
}

export interface DiskFaults {
  /** Leaves so many bytes free, or fewer. */
  fill(spareBytes: number): void;
  empty(): void;
  /** False when something is open for writing at this very moment. */
  makeReadOnly(): boolean;
  makeWritable(): void;
}

const BLOCK = Buffer.alloc(64 * 1024);

export function openDisk(root: string, name: string, megabytes: number): Disk {
  const mountPoint = join(root, name);
  mkdirSync(mountPoint);
  const isMounted = process.getuid?.() === 0 && mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint);
  const folder = join(mountPoint, 'content');
  mkdirSync(folder);
  return {
    folder,
    faults: isMounted ? diskFaults(mountPoint) : undefined,
    remove() {
      if (isMounted) run('umount', '--lazy', mountPoint);
      rmSync(mountPoint, { recursive: true, force: true });
    },
  };
}

function diskFaults(mountPoint: string): DiskFaults {
  const ballast = join(mountPoint, 'ballast');
  const spare = join(mountPoint, 'spare');
  return {
    fill(spareBytes) {
      if (spareBytes > 0) writeUntilFull(spare, spareBytes);
      writeUntilFull(ballast, Number.POSITIVE_INFINITY);
      rmSync(spare, { force: true });
    },
    empty: () => rmSync(ballast, { force: true }),
    makeReadOnly: () => mount('-o', 'remount,ro', mountPoint),
    makeWritable: () => void mount('-o', 'remount,rw', mountPoint),
  };
}

function writeUntilFull(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < bytes; ) {
      written += writeSync(file, BLOCK, 0, Math.min(BLOCK.length, bytes - written));
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
  } finally {
    closeSync(file);
  }
}

function mount(...words: string[]): boolean {
  return run('mount', ...words);
}

function run(program: string, ...words: string[]): boolean {
  try {
    execFileSync(program, words, { stdio: 'ignore' });
    return true;
  } catch {
    // Not allowed here, or busy: the caller does without.
    return false;
  }
}
