/** When something was last done in a state folder, by whichever process: the time of an empty file. */
import { lstatSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { inState } from '../descriptors/state-safety.ts';
import { openStateFile } from './state-file.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NAME = 'retention.stamp';

export interface DailyStamp {
  /** True once a day; a folder that has no stamp yet gets one, and its first day begins. */
  takeDay(now: number): boolean;
}

export function createDailyStamp(folder: string): DailyStamp {
  const path = join(folder, NAME);
  return {
    takeDay: (now) =>
      inState(() => {
        const last = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
        // A clock that was set back must not stop it for years.
        if (last !== undefined && Math.abs(now - last) < DAY_MS) return false;
        openStateFile(folder, NAME);
        utimesSync(path, now / 1000, now / 1000);
        return last !== undefined;
      }),
  };
}
