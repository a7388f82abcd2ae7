/** Runs the rules of one phase for a call: findings below blocking become warnings, a blocking one is thrown. */

import type { EffectsKeeper } from '../../contracts/commands.ts';
import type { ChangeSet } from '../../contracts/git.ts';
import type { RuleContext, RulePhase, RuleSubject } from '../../contracts/rule.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { fromOutermost } from '../../policy/declared-paths.ts';
import type { OpenCall } from './call-types.ts';
import { endingWith, lookOnly } from './git-view.ts';
import type { SessionParts } from './session-parts.ts';
import { announceViolation } from './trail.ts';

export async function runRules(
  phase: RulePhase,
  open: OpenCall,
  subject: RuleSubject,
  parts: SessionParts,
  changeSet: () => Promise<ChangeSet> = nothingToJudge,
): Promise<void> {
  if (!parts.rules.applies(phase, subject)) return;
  const report = await parts.rules.run(phase, subject, ruleContext(open, parts, changeSet));
  for (const warning of report.warnings) {
    open.warnings.push(warning);
    announceViolation(open, warning, parts);
  }
  if (report.blocking !== undefined) throw report.blocking;
}

export function ruleContext(open: OpenCall, parts: SessionParts, changeSet: () => Promise<ChangeSet>): RuleContext {
  return {
    registry: parts.registry,
    workspace: parts.readOnlyWorkspace,
    // Made on first use: most rules never look at it.
    get signal() {
      return open.signal();
    },
    ast: parts.ast,
    get git() {
      return lookOnly(endingWith(parts.programs.git, open.signal));
    },
    commands: checkingCommands(parts),
    cache: parts.findings,
    changeSet,
  };
}

/** Commands of checks: recorded ones are applied whole, and of previewed ones nothing stays, so there is nothing to decide. */
function checkingCommands({ programs, registry, changes, folderPrefix }: SessionParts): RuleContext['commands'] {
  const { effects } = registry;
  if (effects === 'direct') return programs.commands;
  const keeper: EffectsKeeper = {
    async apply(staged) {
      await changes.commit(staged.map((change) => ({ ...change, path: fromOutermost(folderPrefix, change.path) })));
      return undefined;
    },
    hold: async () => ({ diff: '' }),
  };
  return { start: (request) => programs.commands.start({ ...request, effects, keeper }) };
}

function nothingToJudge(): Promise<never> {
  return Promise.reject(
    gitFailure('There is no set of changes to judge in this phase', {
      reason: 'no_changes',
      next: 'declare the rule for the phase on-commit',
    }),
  );
}
