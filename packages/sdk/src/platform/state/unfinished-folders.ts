/**
 * Notes in the state folder where this process makes temporary names, so that after a kill exactly these folders are swept.
 *
 * One file for each process, one line for each folder, written before the first name is made there. A process that ends
 * in order removes its file; the file of one that died is worked off by the next that looks.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { isOwnerDead, OWN_TAG } from '../processes/process-identity.ts';

export interface UnfinishedFolders {
  /** To be called before a temporary name is made. Cheap for a folder that is noted already. */
  note(folder: string): void;
  /** From now on notes are kept. */
  keepIn(state: string): void;
  /** Hands the folders of each dead process to `sweep` and forgets them when it is done. */
  workOff(sweep: (folders: readonly string[]) => Promise<void>): Promise<void>;
  close(): void;
}

const FOLDER = 'unfinished';
/** Then the older half is forgotten: no operation is in that many folders at once. */
const MAX_NOTED = 4000;

export function createUnfinishedFolders(): UnfinishedFolders {
  const noted = new Set<string>();
  // One process may have several runtimes on one state folder.
  const name = `${OWN_TAG ?? process.pid}_${randomUUID()}`;
  let place: string | undefined;

  return {
    note(folder) {
      if (place === undefined || noted.has(folder)) return;
      const file = join(place, name);
      if (noted.size === 0) inState(() => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }));
      inState(() => appendFileSync(file, lineOf(folder), { mode: 0o600 }));
      noted.add(folder);
      if (noted.size <= MAX_NOTED) return;
      for (const old of [...noted].slice(0, MAX_NOTED / 2)) noted.delete(old);
      inState(() => writeFileSync(file, [...noted].map(lineOf).join(''), { mode: 0o600 }));
    },
    keepIn(state) {
      place = join(state, FOLDER);
    },
    async workOff(sweep) {
      if (place === undefined) return;
      for (const other of namesIn(place)) {
        const [tag = ''] = other.split('_');
        if (!isOwnerDead(tag)) continue;
        await sweep(foldersIn(join(place, other)));
        rmSync(join(place, other), { force: true });
      }
    },
    close() {
      if (place !== undefined && noted.size > 0) rmSync(join(place, name), { force: true });
    },
  };
}

function lineOf(folder: string): string {
  return `${JSON.stringify(folder)}\n`;
}

/** The last line may be cut off: then no name was made there. */
function foldersIn(file: string): readonly string[] {
  return read(() => readFileSync(file, 'utf8'), '')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (/^"[^"\\]*(?:\\.[^"\\]*)*"$/.test(line) ? [JSON.parse(line) as string] : []));
}

function namesIn(folder: string): readonly string[] {
  return read(() => readdirSync(folder), []);
}

function read<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return otherwise;
  }
}
