/** Whether a call may simply be made again when nobody knows what became of it. */
import type { ReadyCall } from './call-types.ts';

export function isRepeatable({ compiled, view, args }: Pick<ReadyCall, 'compiled' | 'view' | 'args'>): boolean {
  if (view.mutationClass === 'read_only') return true;
  return compiled.tool.idempotent === true && compiled.tool.isIdempotent?.(args) !== false;
}
