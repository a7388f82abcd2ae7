/** The "after" rules. A blocking violation puts the old bytes back before the answer goes out. */
import { ToolError } from '@tool-runtime/protocol';
import type { RecordedCall } from './call-types.ts';
import type { ChangeLog } from './change-log.ts';
import { runRules } from './run-rules.ts';
import type { SessionParts } from './session-parts.ts';
import { settle } from './settle.ts';

export async function validateChange(call: RecordedCall, log: ChangeLog, parts: SessionParts): Promise<void> {
  if (log.authored.length === 0) return;
  const subject = { ...call.subject, changes: log.authored };
  const judged = await settle(() => runRules('after', call.open, subject, parts));
  if (!judged.ok) throw await rolledBack(judged.error, log, parts, call);
}

async function rolledBack(
  blocking: ToolError,
  log: ChangeLog,
  parts: SessionParts,
  call: RecordedCall,
): Promise<ToolError> {
  const undone = await settle(() => log.rollBack());
  if (!undone.ok) {
    await parts.recovery.note(
      {
        kind: 'recovery',
        at_ms: parts.clock.now(),
        call_id: call.open.callId,
        session_id: call.open.sessionId,
        reason: 'rollback_failed',
        classification: 'reconcile',
        note: parts.redact(undone.error.message),
      },
      { blocks: true },
    );
  } else if (parts.ast !== undefined) {
    await parts.ast.refresh(log.changes, call.open.signal());
  }
  return new ToolError(blocking.code, blocking.message, {
    ...(blocking.path === undefined ? {} : { path: blocking.path }),
    details: { ...blocking.details, rolled_back: undone.ok },
    cause: undone.ok ? blocking : undone.error,
  });
}
