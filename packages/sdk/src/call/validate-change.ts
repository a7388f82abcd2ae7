/** The "after" rules judge what the tool wrote through its workspace: only that can be taken back. */
import type { RecordedCall } from './state/call-types.ts';
import type { ChangeLog } from './state/change-log.ts';
import { runRules } from './state/run-rules.ts';
import type { SessionParts } from './state/session-parts.ts';

export async function validateChange(call: RecordedCall, log: ChangeLog, parts: SessionParts): Promise<void> {
  if (log.authored.length === 0) return;
  await runRules('after', call.open, subjectOf(call, log), parts);
}

/** Whether the change has to be taken back when it cannot be judged. */
export function isJudgedAfter(call: RecordedCall, log: ChangeLog, parts: SessionParts): boolean {
  return log.authored.length > 0 && parts.rules.applies('after', subjectOf(call, log));
}

function subjectOf(call: RecordedCall, log: ChangeLog): RecordedCall['subject'] {
  return { ...call.subject, changes: log.authored };
}
