/** Brings the code index in line with what the call changed. */
import type { RecordedCall } from './call-types.ts';
import type { ChangeLog } from './change-log.ts';
import type { SessionParts } from './session-parts.ts';

export async function syncAst(call: RecordedCall, log: ChangeLog, parts: SessionParts): Promise<void> {
  if (parts.ast === undefined || log.changes.length === 0) return;
  await parts.ast.refresh(log.changes, call.open.signal());
}
