/** What work on files does when the call it belongs to is cancelled. */
import { isToolError } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';

/** The reason is thrown as it was given when it is a ToolError. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  if (isToolError(signal.reason)) throw signal.reason;
  throw failure('cancellation', 'not_retryable', 'File operation was cancelled', {
    details: { reason: 'cancelled' },
    cause: signal.reason,
  });
}
