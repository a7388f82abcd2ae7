/**
 * Which tools a policy names one by one. Only a name lifts a tool of unknown side effects over a ceiling; a wildcard
 * does not, and neither does a name that came from outside.
 */
import type { CapabilityPolicy } from '../contracts/registry.ts';
import { isLiteralGlob } from '../glob/glob-syntax.ts';

export function explicitTools(policy: CapabilityPolicy): readonly string[] {
  return policy.explicit_tools ?? (policy.tools ?? []).filter(isLiteralGlob);
}

/**
 * The names that lift a tool over the ceiling in both policies. A side without a ceiling has nothing to be lifted
 * over, so it does not take part. Undefined when the plain names of `tools` say the same.
 */
export function intersectExplicitTools(
  host: CapabilityPolicy,
  requested: CapabilityPolicy,
  tools: readonly string[] | undefined,
): readonly string[] | undefined {
  const voting = [host, requested].filter((policy) => policy.side_effect_level !== undefined).map(explicitTools);
  const [first, second] = voting;
  if (first === undefined) return undefined;
  const both = second === undefined ? first : first.filter((name) => second.includes(name));
  const implied = new Set(explicitTools(tools === undefined ? {} : { tools }));
  const names = new Set(both);
  const same = implied.size === names.size && [...names].every((name) => implied.has(name));
  return same ? undefined : [...names];
}
