/** Conflicts are not an error, but the caller must see them. */
import type { ToolContext } from '../../../contracts/tool.ts';

const SHOWN = 20;

export function warnOfConflicts({ warn }: Pick<ToolContext, 'warn'>, conflicts: readonly string[], what: string): void {
  warn({
    code: 'E_GIT',
    message: `Conflicts in ${conflicts.length} ${conflicts.length === 1 ? 'file' : 'files'}: ${what} is not finished`,
    details: {
      reason: 'conflicts',
      conflicts: conflicts.slice(0, SHOWN),
      next: 'resolve and add the files, then git_continue; or git_abort, or git_recover with the recovery of this call',
    },
  });
}
