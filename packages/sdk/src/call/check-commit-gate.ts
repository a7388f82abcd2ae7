/** The slow rules of a commit: run under the locks and right before it, so that the tree cannot move in between. */
import type { RecordedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

export async function checkCommitGate(call: RecordedCall, parts: SessionParts): Promise<void> {
  if (!parts.rules.applies('on-commit', call.subject)) return;
  const report = await parts.rules.run('on-commit', call.subject, {
    registry: parts.registry,
    workspace: parts.readOnlyWorkspace,
    get signal() {
      return call.open.signal();
    },
    ast: parts.ast,
  });
  call.open.warnings.push(...report.warnings);
  if (report.blocking !== undefined) throw report.blocking;
}
