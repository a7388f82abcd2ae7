/** The recovery points of a repository, newest first; references under the same name that are none are left out. */
import type { GitRepository } from '../../../contracts/git.ts';
import { type RecoveryNote, readNote } from './recovery-note.ts';
import { RECOVERY_FOLDER, RECOVERY_REF } from './recovery-ref.ts';

export interface ListedRecovery {
  readonly ref: string;
  readonly note: RecoveryNote;
}

export async function listRecoveries(git: GitRepository): Promise<readonly ListedRecovery[]> {
  const { stdout } = await git.run({
    words: ['for-each-ref', '--sort=-refname', '--format=%(refname)%00%(contents)%00', `${RECOVERY_FOLDER}/`],
    access: 'read',
  });
  const fields = stdout.toString('utf8').split('\0');
  const listed: ListedRecovery[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const ref = (fields[at] ?? '').trim();
    const note = RECOVERY_REF.test(ref) ? noteOf(fields[at + 1] ?? '') : undefined;
    if (note !== undefined) listed.push({ ref, note });
  }
  return listed;
}

function noteOf(message: string): RecoveryNote | undefined {
  try {
    return readNote(message);
  } catch {
    // Not made by us: nothing to go back to.
    return undefined;
  }
}
