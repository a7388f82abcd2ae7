/** Puts the old bytes back after a change that was refused, or that could not be judged in time. */
import { ToolError } from '@tool-runtime/protocol';
import type { RecordedCall } from './state/call-types.ts';
import type { ChangeLog } from './state/change-log.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';

/** The error that says so. */
export async function takeBack(
  blocking: ToolError,
  call: RecordedCall,
  log: ChangeLog,
  parts: SessionParts,
): Promise<ToolError> {
  const { time } = call.open;
  const undone = await settle(() => time.wait('undo', () => log.rollBack()));
  if (!undone.ok) await settle(() => time.wait('record', () => noteFailure(undone.error, call, parts)));
  else await settle(() => time.wait('index', () => parts.ast?.refresh(log.changes, call.open.signal())));
  return new ToolError(blocking.code, blocking.message, {
    ...(blocking.path === undefined ? {} : { path: blocking.path }),
    details: { ...blocking.details, rolled_back: undone.ok },
    cause: undone.ok ? blocking : undone.error,
  });
}

function noteFailure(error: ToolError, call: RecordedCall, parts: SessionParts): Promise<boolean> {
  return parts.recovery.note(
    {
      kind: 'recovery',
      at_ms: parts.clock.now(),
      call_id: call.open.callId,
      session_id: call.open.sessionId,
      reason: 'rollback_failed',
      classification: 'reconcile',
      note: parts.redact(error.message),
    },
    { blocks: true },
  );
}
