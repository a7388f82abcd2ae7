/**
 * The key of a state folder.
 *
 * It is linked into place only when it is whole: of two processes that start at once, one wins and both use its key.
 * A folder with a journal but no key has lost it; a new key would silently break the chain, so none is made.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { inState, unsafeState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { placeDraft, readStateFile } from './state-file.ts';

export const KEY_BYTES = 32;
export const KEY_FILE = 'journal.key';
export const SEALED_FILE = 'journal.db';

export function readOrCreateKey(folder: string): Buffer {
  const path = join(folder, KEY_FILE);
  const found = readKey(path);
  if (found !== undefined) return found;
  // The key always comes before the journal, so a journal seen here may only mean that both were made just now.
  if (lstatSync(join(folder, SEALED_FILE), { throwIfNoEntry: false }) === undefined) createKey(folder, path);
  const key = readKey(path);
  if (key === undefined) {
    throw unsafeState('journal.key is missing', 'restore journal.key, or start with an empty state folder');
  }
  return key;
}

function readKey(path: string): Buffer | undefined {
  const key = readStateFile(path);
  if (key === undefined || key.length === KEY_BYTES) return key;
  throw unsafeState('journal.key has the wrong length', 'restore journal.key');
}

function createKey(folder: string, path: string): void {
  inState(() =>
    placeDraft(folder, randomBytes(KEY_BYTES), (draft) => {
      try {
        linkSync(draft, path);
      } catch (thrown) {
        // Another process was first; its key is the one.
        if (errnoCode(thrown) !== 'EEXIST') throw thrown;
      }
    }),
  );
}
