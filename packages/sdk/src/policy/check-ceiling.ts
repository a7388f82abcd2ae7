/**
 * The session's ceiling: tool list → capability operations → side-effect level.
 *
 * The first two do not depend on arguments, so they are worked out once per tool. A tool whose level is unknown
 * (unannotated, or `none`) is above every ceiling unless the policy names it; a wildcard is not a name.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { type SideEffectLevel, sideEffectRank, type ToolAnnotations } from '../contracts/annotations.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { CapabilityPolicy } from '../contracts/registry.ts';
import type { CallProfile } from '../contracts/tool.ts';
import { isLiteralGlob } from '../glob/glob-syntax.ts';
import { compileGlobs, type GlobTest } from '../glob/match-glob.ts';

export interface CeilingSubject {
  readonly tool: string;
  readonly annotated: boolean;
  readonly annotations: ToolAnnotations;
  readonly profile: CallProfile;
}

export type CeilingReason = 'tool_not_listed' | 'capability_not_allowed' | 'side_effect_ceiling';

export interface Ceiling {
  /** Throws E_POLICY with `details.reason` a CeilingReason. */
  check(subject: CeilingSubject): void;
}

/** The registry key that sets the limit, so that a refusal can name its line. */
const REGISTRY_FIELDS: Readonly<Record<CeilingReason, string>> = {
  tool_not_listed: 'allowed_tools',
  capability_not_allowed: 'capabilities',
  side_effect_ceiling: 'side_effect_level',
};

interface Remembered {
  readonly annotations: ToolAnnotations;
  readonly refuse: (() => ToolError) | undefined;
}

interface CompiledPolicy {
  readonly policy: CapabilityPolicy;
  readonly isListed: GlobTest | undefined;
  readonly explicit: ReadonlySet<string>;
  readonly rank: number | undefined;
}

/** Names come from a frozen snapshot, so the memory stays small; the limit protects hosts that pass other names. */
const MAX_REMEMBERED = 1024;

export function compileCeiling(policy: CapabilityPolicy): Ceiling {
  const compiled: CompiledPolicy = {
    policy,
    isListed: policy.tools === undefined ? undefined : compileGlobs(policy.tools),
    explicit: new Set(explicitTools(policy)),
    rank: policy.side_effect_level === undefined ? undefined : sideEffectRank(policy.side_effect_level),
  };
  const remembered = new Map<string, Remembered>();
  return {
    check(subject) {
      let known = remembered.get(subject.tool);
      if (known?.annotations !== subject.annotations) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        known = { annotations: subject.annotations, refuse: staticRefusal(compiled, subject) };
        remembered.set(subject.tool, known);
      }
      if (known?.refuse !== undefined) throw known.refuse();
      if (compiled.rank !== undefined) checkLevel(compiled, compiled.rank, subject);
    },
  };
}

function staticRefusal({ policy, isListed }: CompiledPolicy, subject: CeilingSubject): (() => ToolError) | undefined {
  const { tool, annotations } = subject;
  if (isListed !== undefined && !isListed(tool)) {
    const listed = policy.tools ?? [];
    const next = listed.length === 0 ? 'no tool is allowed here' : `use one of ${listed.slice(0, 20).join(', ')}`;
    return () => refusal(`Tool is not in the policy: ${tool}`, 'tool_not_listed', next);
  }
  const missing = missingOperation(policy, annotations);
  if (missing === undefined) return undefined;
  const next = `ask the operator to allow ${missing}, or use a tool that does not need it`;
  return () => refusal(`Capability is not allowed for ${tool}: ${missing}`, 'capability_not_allowed', next);
}

function missingOperation({ capabilities }: CapabilityPolicy, annotations: ToolAnnotations): string | undefined {
  if (capabilities === undefined) return undefined;
  for (const [capability, operations] of Object.entries(annotations.capabilities)) {
    const allowed = Object.hasOwn(capabilities, capability) ? capabilities[capability] : undefined;
    if (allowed === undefined) return capability;
    const missing = operations.find((operation) => !allowed.includes(operation));
    if (missing !== undefined) return `${capability}.${missing}`;
  }
  return undefined;
}

/** What operators write to allow such calls; the ceiling follows from it. */
const RAISED_BY: Readonly<Partial<Record<SideEffectLevel, string>>> = {
  process_exec: 'list commands in shell_allow, or set shell: { mode: sandboxed },',
  network: 'list hosts in network.allowed_domains',
};

function checkLevel({ policy, explicit }: CompiledPolicy, ceiling: number, subject: CeilingSubject): void {
  const { tool, annotated, profile } = subject;
  const level = profile.side_effect_level;
  if (sideEffectRank(level) > ceiling) {
    const way = RAISED_BY[level] ?? 'raise side_effect_level';
    const next = `stay within ${policy.side_effect_level}, or let the operator ${way} in the registry`;
    throw refusal(`Side effects exceed the ceiling: ${tool} needs ${level}`, 'side_effect_ceiling', next);
  }
  const known = annotated && (level !== 'none' || profile.kind === 'think');
  if (known || explicit.has(tool)) return;
  const next = 'annotate the tool, or list it by its exact name in the policy';
  throw refusal(`Side effects of the tool are not known: ${tool}`, 'side_effect_ceiling', next);
}

function refusal(message: string, reason: CeilingReason, next: string): ToolError {
  return policyDenial(message, { details: { gate: 'ceiling', reason, field: REGISTRY_FIELDS[reason], next } });
}

/**
 * Which tools a policy names one by one. Only a name lifts a tool of unknown side effects over a ceiling; a wildcard
 * does not, and neither does a name that came from outside.
 */
export function explicitTools(policy: CapabilityPolicy): readonly string[] {
  return policy.explicit_tools ?? (policy.tools ?? []).filter(isLiteralGlob);
}

/**
 * The names that lift a tool over the ceiling in both policies. A side without a ceiling has nothing to be lifted over,
 * so it does not take part. Undefined when the plain names of `tools` give the same result.
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
