/** What a client is told about a request it asks after. The difference decides whether it may simply be sent again. */
import { ToolError } from '@tool-runtime/protocol';
import type { ServedSession } from './served-session.ts';

export function lostAnswer(served: ServedSession, requestId: string): ToolError {
  if (!served.session.hasSeen(requestId)) return neverReceived();
  return new ToolError('E_INTERNAL', 'The request was answered, but the answer is no longer kept', {
    details: { reason: 'answer_gone', next: 'repeat it with its idempotency_key, or look it up in the journal' },
  });
}

/** Also of a request that was dropped with its connection before it began. */
export function neverReceived(): ToolError {
  return new ToolError('E_INTERNAL', 'The request never arrived, so it did not run', {
    details: { reason: 'never_received', next: 'send it again' },
  });
}
