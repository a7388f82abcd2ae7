/** The slow rules of a commit: run under the locks and right before it, so that the tree cannot move in between. */
import type { RecordedCall } from './call-types.ts';
import { runRules } from './run-rules.ts';
import type { SessionParts } from './session-parts.ts';

export function checkCommitGate(call: RecordedCall, parts: SessionParts): Promise<void> {
  return runRules('on-commit', call.open, call.subject, parts);
}
