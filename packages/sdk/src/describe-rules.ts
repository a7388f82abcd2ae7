/** The whole rule catalogue as data, for docs and `explain`. */
import type { RuleDefinition } from './contracts/rule.ts';
import * as builtInRules from './rules/catalog.ts';
import { UNTRIGGERED_RULES } from './rules/untriggered-rules.ts';

export interface RuleDescription {
  readonly id: string;
  readonly category: string;
  readonly level: string;
  readonly trigger: string;
  readonly description: string;
  /** Whether a tool of this build can cause the rule to run. */
  readonly enforced: 'yes' | 'no tool of this build triggers it';
}

export function describeRules(): readonly RuleDescription[] {
  const inForce: readonly RuleDefinition[] = Object.values(builtInRules);
  return [
    ...inForce.map((rule) => describe(rule, 'yes')),
    ...UNTRIGGERED_RULES.map((rule) => describe(rule, 'no tool of this build triggers it')),
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describe(
  rule: Pick<RuleDefinition, 'id' | 'category' | 'defaultEnforcement' | 'trigger' | 'description'>,
  enforced: RuleDescription['enforced'],
): RuleDescription {
  const { id, category, trigger, description, defaultEnforcement } = rule;
  return { id, category, level: defaultEnforcement, trigger, description, enforced };
}
