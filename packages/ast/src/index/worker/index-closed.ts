/** The error for calls to a closed index. */
import { ToolError } from '@tool-runtime/protocol';

export function indexClosed(): ToolError {
  return new ToolError('E_INTERNAL', 'The code index is closed', {
    details: { kind: 'cancellation', retry: 'not_retryable', reason: 'closed' },
  });
}
