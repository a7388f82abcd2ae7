/** A journal whose rows do not fit together. */
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';

export function damaged(seq: number, reason: string, cause?: unknown): ToolError {
  return failure('journal_failure', 'repair_needed', `Journal is damaged: record ${seq}`, {
    details: { seq, reason, next: 'run verify; restore the state folder or start a new one' },
    cause,
  });
}
