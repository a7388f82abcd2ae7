/** Runs the rules of one phase for a call: findings below blocking become warnings, a blocking one is thrown. */

import type { EffectsKeeper } from '../../contracts/commands.ts';
import type { ChangeSet } from '../../contracts/git.ts';
import type { RuleContext, RulePhase, RuleSubject } from '../../contracts/rule.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { fromOutermost } from '../../policy/declared-paths.ts';
import type { RuleReport } from '../../policy/rule-set.ts';
import type { OpenCall } from './call-types.ts';
import { endingWith, lookOnly } from './git-view.ts';
import type { SessionParts } from './session-parts.ts';
import { announceViolation } from './trail.ts';

/** At once where every rule that applies answers at once. */
export function runRules(
  phase: RulePhase,
  open: OpenCall,
  subject: RuleSubject,
  parts: SessionParts,
  changeSet: () => Promise<ChangeSet> = nothingToJudge,
): MaybePromise<void> {
  if (!parts.rules.applies(phase, subject)) return;
  const found = parts.rules.run(phase, subject, new CallRuleContext(open, parts, changeSet));
  return found instanceof Promise
    ? found.then((report) => takeReport(report, open, parts))
    : takeReport(found, open, parts);
}

function takeReport(report: RuleReport, open: OpenCall, parts: SessionParts): void {
  for (const warning of report.warnings) {
    open.warnings.push(warning);
    announceViolation(open, warning, parts);
  }
  if (report.blocking !== undefined) throw report.blocking;
}

/**
 * Signal, git and commands are made on first use: most rules never look at them. A class, because every object literal
 * with a getter has a hidden class of its own, which keeps the whole call in memory until the next full collection.
 */
export class CallRuleContext implements RuleContext {
  readonly registry: RuleContext['registry'];
  readonly workspace: RuleContext['workspace'];
  readonly ast: RuleContext['ast'];
  readonly cache: RuleContext['cache'];
  readonly changeSet: RuleContext['changeSet'];
  readonly #open: OpenCall;
  readonly #parts: SessionParts;

  constructor(open: OpenCall, parts: SessionParts, changeSet: () => Promise<ChangeSet>) {
    this.#open = open;
    this.#parts = parts;
    this.registry = parts.registry;
    this.workspace = parts.readOnlyWorkspace;
    this.ast = parts.ast;
    this.cache = parts.findings;
    this.changeSet = changeSet;
  }

  get signal(): AbortSignal {
    return this.#open.signal();
  }

  get git(): RuleContext['git'] {
    const { programs } = this.#parts;
    return lookOnly(endingWith(programs.git, this.#open.signal));
  }

  get commands(): RuleContext['commands'] {
    return checkingCommands(this.#open, this.#parts);
  }
}

/**
 * Commands of checks: recorded ones are applied whole, as part of the change set of the call, and of previewed ones nothing stays,
 * so there is nothing to decide.
 */
function checkingCommands(
  { sets, progress, callId }: OpenCall,
  { programs, registry, folderPrefix }: SessionParts,
): RuleContext['commands'] {
  const { effects } = registry;
  if (effects === 'direct') return programs.commands;
  const keeper: EffectsKeeper = {
    async apply(staged) {
      const placed = staged.map((change) => ({ ...change, path: fromOutermost(folderPrefix, change.path) }));
      await sets().commit(placed);
      const paths = placed.map(({ path, before, after }) => ({ path, before, after }));
      progress.checked = [...(progress.checked ?? []), ...paths];
      return callId;
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
