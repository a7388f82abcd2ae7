/** What a call changed in files, kept before its result is recorded: an answer never names a change set that is not there. */
import { toToolError } from '@tool-runtime/protocol';
import type { Execution, RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

/** Answers the id of the change set, which is that of its call; undefined when all of it was taken back. */
export function keepChangeSet(call: RecordedCall, execution: Execution, parts: SessionParts): string | undefined {
  const { changes, error } = execution;
  if (error?.details['rolled_back'] === true) return undefined;
  const { paths } = changes;
  const { callId, sessionId } = call.open;
  try {
    parts.changes.store.put({
      change_id: callId,
      call_id: callId,
      session_id: sessionId,
      actor: parts.actor,
      tool: call.subject.tool,
      at: parts.clock.now(),
      status: 'applied',
      paths,
    });
    return callId;
  } catch (thrown) {
    // The call is done; only its change set is missing.
    parts.reportUnexpected(toToolError(thrown));
    return undefined;
  }
}
