/** What a call changed in files, kept before its result is recorded: an answer never names a change set that is not there. */
import { ToolError, toToolError } from '@tool-runtime/protocol';
import type { PathChange } from '../changes/change-set.ts';
import { combineChanges } from '../changes/plan-undo.ts';
import type { Execution, RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

/** Answers the id of the change set, which is that of its call; undefined when all of it was taken back. */
export function keepChangeSet(call: RecordedCall, execution: Execution, parts: SessionParts): string | undefined {
  const { changes, error } = execution;
  const own = error?.details['rolled_back'] === true ? [] : changes.paths;
  const { transaction } = parts;
  if (transaction !== undefined && !(transaction instanceof ToolError)) {
    // Nothing of it is real yet; its set comes with the commit.
    if (own.length > 0) transaction.note(call.subject, own, (digest) => call.open.sets().store.bytes(digest));
    return own.length > 0 ? transaction.id : undefined;
  }
  const paths = allOf(call.open.progress.checked, own).filter((change) => !holdsSecret(change, parts));
  if (paths.length === 0 || !parts.changes.isRecording) return undefined;
  const { callId, sessionId } = call.open;
  const { recovery, setId: id = callId } = changes;
  try {
    call.open.sets().store.put({
      change_id: id,
      call_id: callId,
      session_id: sessionId,
      actor: parts.actor,
      tool: call.subject.tool,
      at: parts.clock.now(),
      status: 'applied',
      ...(recovery === undefined ? {} : { recovery }),
      paths,
    });
    return id;
  } catch (thrown) {
    // The call is done; only its change set is missing.
    parts.reportUnexpected(toToolError(thrown));
    return undefined;
  }
}

/** What commands of rules did first, then what the tool did. */
function allOf(checked: readonly PathChange[] | undefined, own: readonly PathChange[]): readonly PathChange[] {
  if (checked === undefined) return own;
  const all = combineChanges([...own.toReversed(), ...checked.toReversed()]);
  return all.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** A name or a link target with a known secret in it must not reach the state folder; content is filtered where it is kept. */
function holdsSecret(change: PathChange, { redactor: { known } }: SessionParts): boolean {
  if (known.isEmpty) return false;
  const text = JSON.stringify(change);
  return known.text(text) !== text;
}
