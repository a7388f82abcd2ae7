/** Writes the lock of external tools: the old text or the new one, never half. All users may read it. */
import { chmodSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileError } from '../descriptors/file-errors.ts';
import { placeDraft } from '../state/state-file.ts';

const MODE = 0o644;

/** Throws E_FILE_IO. */
export function writeLockText(path: string, text: string): void {
  try {
    placeDraft(dirname(path), Buffer.from(text), (draft) => {
      chmodSync(draft, MODE);
      renameSync(draft, path);
    });
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}
