/** Keeps the newest recovery points. Counting them costs nothing until there are too many. */
import type { GitRepository } from '../../../contracts/git.ts';
import { RECOVERY_FOLDER, RECOVERY_REF } from './recovery-ref.ts';

export const KEPT_RECOVERIES = 100;

export async function pruneRecoveries(git: GitRepository): Promise<void> {
  const loose = await git.files.list(RECOVERY_FOLDER);
  if (loose.length <= KEPT_RECOVERIES) return;
  const { stdout } = await git.run({
    words: ['for-each-ref', '--format=%(refname)', '--sort=-refname', `${RECOVERY_FOLDER}/`],
    access: 'read',
  });
  const old = stdout
    .toString('utf8')
    .split('\n')
    .filter((ref) => RECOVERY_REF.test(ref))
    .slice(KEPT_RECOVERIES);
  if (old.length === 0) return;
  await git.run({
    words: ['update-ref', '--stdin', '-z'],
    access: 'write',
    stdin: old.map((ref) => `delete ${ref}\0\0`).join(''),
  });
}
