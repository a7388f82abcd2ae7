/** Runs the rules of one phase for a call: findings below blocking become warnings, a blocking one is thrown. */
import type { RulePhase, RuleSubject } from '../contracts/rule.ts';
import type { OpenCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

export async function runRules(
  phase: RulePhase,
  open: OpenCall,
  subject: RuleSubject,
  parts: SessionParts,
): Promise<void> {
  if (!parts.rules.applies(phase, subject)) return;
  const report = await parts.rules.run(phase, subject, {
    registry: parts.registry,
    workspace: parts.readOnlyWorkspace,
    // Made on first use: most rules never look at it.
    get signal() {
      return open.signal();
    },
    ast: parts.ast,
  });
  open.warnings.push(...report.warnings);
  if (report.blocking !== undefined) throw report.blocking;
}
