/** Whether making a call again at once has no further effect, so that it may run while a recovery marker waits. */
import type { ReadyCall } from './call-types.ts';

export function isRepeatable({ compiled, view, args }: Pick<ReadyCall, 'compiled' | 'view' | 'args'>): boolean {
  if (view.mutationClass === 'read_only') return true;
  return compiled.tool.idempotent === true && compiled.tool.isIdempotent?.(args) !== false;
}
