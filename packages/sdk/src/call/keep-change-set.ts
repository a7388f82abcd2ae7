/** What a call changed in files, kept before its result is recorded: an answer never names a change set that is not there. */
import { toToolError } from '@tool-runtime/protocol';
import type { PathChange } from '../changes/change-set.ts';
import type { Execution, RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

/** Answers the id of the change set, which is that of its call; undefined when all of it was taken back. */
export function keepChangeSet(call: RecordedCall, execution: Execution, parts: SessionParts): string | undefined {
  const { changes, error } = execution;
  if (error?.details['rolled_back'] === true) return undefined;
  const paths = changes.paths.filter((change) => !holdsSecret(change, parts));
  if (paths.length === 0) return undefined;
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

/** A name or a link target with a known secret in it must not reach the state folder; content is filtered where it is kept. */
function holdsSecret(change: PathChange, { redactor: { known } }: SessionParts): boolean {
  if (known.isEmpty) return false;
  const text = JSON.stringify(change);
  return known.text(text) !== text;
}
