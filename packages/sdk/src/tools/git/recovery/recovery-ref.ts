/** Names of recovery points: the time first, so that their order is the order of making. */
import { randomBytes } from 'node:crypto';
import { gitFailure } from '../../../git/git-failure.ts';

export const RECOVERY_FOLDER = 'refs/tool-runtime/recovery';
export const RECOVERY_REF = /^refs\/tool-runtime\/recovery\/\d{8}T\d{9}Z-[0-9a-f]{12}$/;

export function newRecoveryRef(time: string): string {
  return `${RECOVERY_FOLDER}/${time.replace(/[-:.]/g, '')}-${randomBytes(6).toString('hex')}`;
}

/** Throws E_GIT unless the text is such a name. */
export function checkRecoveryRef(text: string): string {
  if (RECOVERY_REF.test(text)) return text;
  throw gitFailure('This is no name of a recovery point', {
    path: 'recovery',
    reason: 'bad_recovery',
    next: 'give the value of `recovery` that a git tool answered; git_recover with list shows them all',
  });
}
