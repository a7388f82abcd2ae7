/** Names of recovery points: the time first, so that their order is the order of making. */
import { randomBytes } from 'node:crypto';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { gitFailure } from '../../../git/git-failure.ts';

export const RECOVERY_FOLDER = 'refs/tool-runtime/recovery';
export const RECOVERY_REF = /^refs\/tool-runtime\/recovery\/\d{8}T\d{9}Z-[0-9a-f]{12}$/;

export function newRecoveryRef(time: string): string {
  return `${RECOVERY_FOLDER}/${time.replace(/[-:.]/g, '')}-${randomBytes(6).toString('hex')}`;
}

/** Throws E_GIT unless the text is such a name. */
export function checkRecoveryRef(text: string): string {
  if (RECOVERY_REF.test(text)) return text;
  throw gitFailure('Not the name of a recovery point', {
    path: 'recovery',
    reason: 'bad_recovery',
    next: 'give the value of `recovery` from the answer of a git tool; git_recover with list: true shows them all',
  });
}

/** Whatever goes wrong after something was saved, the error says where to go back to. */
export async function namingRecovery<T>({ ref }: { readonly ref: string }, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.details['recovery'] !== undefined) throw thrown;
    throw new ToolError(thrown.code, thrown.message, {
      ...(thrown.path === undefined ? {} : { path: thrown.path }),
      details: { ...thrown.details, recovery: ref },
      cause: thrown,
    });
  }
}
