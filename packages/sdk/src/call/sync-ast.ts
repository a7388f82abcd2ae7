/** Brings the code index in line with what the call changed. */
import type { RecordedCall } from './state/call-types.ts';
import type { ChangeLog } from './state/change-log.ts';
import type { SessionParts } from './state/session-parts.ts';

export async function syncAst(call: RecordedCall, log: ChangeLog, parts: SessionParts): Promise<void> {
  const { ast } = parts;
  if (ast === undefined) return;
  if (log.changes.length > 0) await ast.refresh(log.changes, call.open.signal());
  // What a process wrote is not in the log.
  if (call.view.profile.effect === 'process') await ast.catchUp?.(call.open.signal());
}
