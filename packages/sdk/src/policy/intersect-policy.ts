/**
 * What two policies allow together. The result never allows what either refuses.
 *
 * Unset is no limit, an empty list is nothing: two lists without a common entry give an empty list. Asking for more
 * than the host lists is an error, so that no session runs with less than it asked for; registries that are not trusted
 * are trimmed instead and what they lost is reported.
 */
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { CapabilityPolicy, ToolArgConstraint } from '../contracts/registry.ts';
import { globCovers, intersectGlobs } from '../glob/match-glob.ts';
import { shownNames } from '../text/names.ts';
import { intersectExplicitTools } from './check-ceiling.ts';

interface Narrowed {
  readonly policy: CapabilityPolicy;
  /** Entries of lists that lie outside the host's. */
  readonly outside: readonly string[];
  /** Limits that were asked higher than the host's and came down. */
  readonly lowered: readonly string[];
}

/** Throws E_POLICY naming every request that lies outside the host's lists. Higher limits just come down. */
export function intersectPolicies(host: CapabilityPolicy, requested: CapabilityPolicy): CapabilityPolicy {
  const { policy, outside } = narrow(host, requested);
  if (outside.length === 0) return policy;
  throw policyDenial(`Requested policy exceeds the host's: ${shownNames(outside, '; ')}`, {
    details: { gate: 'ceiling', reason: 'policy_overreach', overreach: outside, next: 'request what the host allows' },
  });
}

/** Trims instead of refusing; `overreach` names everything that was asked in vain. */
export function narrowPolicies(
  host: CapabilityPolicy,
  requested: CapabilityPolicy,
): { readonly policy: CapabilityPolicy; readonly overreach: readonly string[] } {
  const { policy, outside, lowered } = narrow(host, requested);
  return { policy, overreach: [...outside, ...lowered] };
}

function narrow(host: CapabilityPolicy, requested: CapabilityPolicy): Narrowed {
  const outside: string[] = [];
  const lowered: string[] = [];
  const tools = meet(host.tools, requested.tools, (ours, asked) => meetTools(ours, asked, outside));
  const explicit = intersectExplicitTools(host, requested, tools);
  const fields = {
    tools,
    explicit_tools: explicit,
    capabilities: meet(host.capabilities, requested.capabilities, (ours, asked) =>
      meetCapabilities(ours, asked, outside),
    ),
    workspace_roots: meet(host.workspace_roots, requested.workspace_roots, (ours, asked) =>
      meetRoots(ours, asked, outside),
    ),
    side_effect_level: meet(host.side_effect_level, requested.side_effect_level, (ours, asked) =>
      meetLevels(ours, asked, lowered),
    ),
    recursion_limit: meet(host.recursion_limit, requested.recursion_limit, (ours, asked) => {
      if (asked > ours) lowered.push(`recursion_limit: ${asked}`);
      return Math.min(ours, asked);
    }),
    tool_arg_constraints: meet(host.tool_arg_constraints, requested.tool_arg_constraints, joinConstraints),
  };
  return { policy: dropUnset(fields), outside, lowered };
}

function meet<T>(ours: T | undefined, asked: T | undefined, both: (ours: T, asked: T) => T): T | undefined {
  if (ours === undefined) return asked;
  return asked === undefined ? ours : both(ours, asked);
}

function dropUnset(fields: { readonly [Key in keyof CapabilityPolicy]: CapabilityPolicy[Key] | undefined }) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as CapabilityPolicy;
}

function meetTools(ours: readonly string[], asked: readonly string[], outside: string[]): readonly string[] {
  const beyond = asked.filter((entry) => !ours.some((allowed) => globCovers(allowed, entry)));
  outside.push(...beyond.map((entry) => `tools: ${entry}`));
  if (beyond.length === 0) return [...new Set(asked)];
  return intersectGlobs(ours, asked);
}

type Capabilities = Readonly<Record<string, readonly string[]>>;

function meetCapabilities(ours: Capabilities, asked: Capabilities, outside: string[]): Capabilities {
  const kept: [string, readonly string[]][] = [];
  for (const [capability, operations] of Object.entries(asked)) {
    const allowed = Object.hasOwn(ours, capability) ? ours[capability] : undefined;
    if (allowed === undefined) {
      outside.push(`capabilities: ${capability}`);
      continue;
    }
    const beyond = operations.filter((operation) => !allowed.includes(operation));
    outside.push(...beyond.map((operation) => `capabilities: ${capability}.${operation}`));
    kept.push([capability, [...new Set(operations)].filter((operation) => allowed.includes(operation))]);
  }
  return Object.fromEntries(kept);
}

function meetRoots(ours: readonly string[], asked: readonly string[], outside: string[]): readonly string[] {
  const inside = asked.filter((root) => ours.some((allowed) => isBelow(allowed, root)));
  outside.push(...asked.filter((root) => !inside.includes(root)).map((root) => `workspace_roots: ${root}`));
  return [...new Set(inside)];
}

/** By text alone; a root with `..` in it proves nothing. */
function isBelow(folder: string, path: string): boolean {
  if (path === folder) return true;
  if (path.split('/').some((part) => part === '..')) return false;
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function meetLevels(ours: SideEffectLevel, asked: SideEffectLevel, lowered: string[]): SideEffectLevel {
  if (sideEffectRank(asked) <= sideEffectRank(ours)) return asked;
  lowered.push(`side_effect_level: ${asked}`);
  return ours;
}

function joinConstraints(ours: readonly ToolArgConstraint[], asked: readonly ToolArgConstraint[]) {
  const form = ({ tool, arg_key, arg_patterns }: ToolArgConstraint): string =>
    JSON.stringify([tool, arg_key ?? null, arg_patterns]);
  return [...new Map([...ours, ...asked].map((constraint) => [form(constraint), constraint])).values()];
}
