/**
 * Brings the write-ahead log of an open database to the disk, beside SQLite.
 *
 * Only the log is opened here. Never the database itself: closing any descriptor of it would drop the locks that SQLite
 * holds on it in this process.
 */
import { closeSync, constants, fdatasync, fdatasyncSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../descriptors/disk.ts';
import { errnoCode } from '../errno-error.ts';
import { openChecked } from './state-file.ts';

const syncLater = promisify(fdatasync);

export interface LogSync {
  now(): void;
  later(): Promise<void>;
  /** Call when nothing is under way. */
  close(): void;
}

export function createLogSync(database: string): LogSync {
  const path = `${database}-wal`;
  let fd: number | undefined;
  /** The log comes with the first write and stays while the database is open; its name has to be on the disk too. */
  const open = (): number | undefined => {
    if (fd !== undefined) return fd;
    try {
      fd = openChecked(path, constants.O_RDWR);
    } catch (thrown) {
      if (errnoCode(thrown) === 'ENOENT') return undefined;
      throw thrown;
    }
    syncFolder(dirname(path));
    return fd;
  };
  return {
    now() {
      const log = open();
      if (log !== undefined) fdatasyncSync(log);
    },
    async later() {
      const log = open();
      if (log !== undefined) await syncLater(log);
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
