/**
 * Gives the locks of a call back. First its tool loses what it was granted, so that a handler that still runs can change
 * nothing behind the back of the next owner; a change that is under way is waited for, for a bounded time.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { AdmittedCall } from './state/call-types.ts';
import type { Grant } from './state/grant.ts';
import type { SessionParts } from './state/session-parts.ts';

const LONGEST_MS = 10_000;

export function releaseLocks(call: AdmittedCall, grant: Grant | undefined, parts: SessionParts): void {
  grant?.revoke(callEnded(call));
  if (grant === undefined || grant.isIdle) {
    call.releaseLocks();
    return;
  }
  const release = (): void => {
    clearTimeout(timer);
    call.releaseLocks();
  };
  const timer = setTimeout(() => {
    parts.reportUnexpected(stuck(call));
    release();
  }, LONGEST_MS).unref();
  void grant.idle().then(release);
}

function callEnded({ view }: AdmittedCall): ToolError {
  return new ToolError('E_TIMEOUT', `The call has ended, so its tool may change nothing any more: ${view.tool}`, {
    details: {
      gate: 'grant',
      reason: 'call_ended',
      next: 'let the tool end with its signal, and await what it starts',
    },
  });
}

function stuck({ view, open }: AdmittedCall): ToolError {
  return new ToolError('E_INTERNAL', `A change did not end ${LONGEST_MS} ms after its call: ${view.tool}`, {
    details: { call_id: open.callId, next: 'look at the disk; the locks of the call were released' },
  });
}
