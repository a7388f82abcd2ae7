/** The whole rule catalogue as data, for docs and `explain`. */
import type { RuleDefinition } from './contracts/rule.ts';
import * as builtInRules from './rules/catalog.ts';
import { ENGINE_RULES } from './rules/engine-rules.ts';

export interface RuleDescription {
  readonly id: string;
  readonly category: string;
  readonly level: string;
  readonly trigger: string;
  readonly description: string;
  /** Whether the rule can run here. */
  readonly enforced: 'yes' | 'with the ast package';
}

/** `more` are rules that plugins bring along; they take the place of lines that only know their names. */
export function describeRules(more: readonly RuleDefinition[] = []): readonly RuleDescription[] {
  const inForce: readonly RuleDefinition[] = [...Object.values(builtInRules), ...more];
  const names = new Set(inForce.map(({ id }) => id));
  return [
    ...inForce.map((rule) => describe(rule, 'yes')),
    ...ENGINE_RULES.filter(({ id }) => !names.has(id)).map((rule) => describe(rule, 'with the ast package')),
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describe(
  rule: Pick<RuleDefinition, 'id' | 'category' | 'defaultEnforcement' | 'trigger' | 'description'>,
  enforced: RuleDescription['enforced'],
): RuleDescription {
  const { id, category, trigger, description, defaultEnforcement } = rule;
  return { id, category, level: defaultEnforcement, trigger, description, enforced };
}
