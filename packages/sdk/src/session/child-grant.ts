/**
 * What the host of a parent tells another host about a child that works there. That host applies it to what it would
 * allow anyway, so the child has no more than its parent, and no more than a session of that host.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { completeAnnotations } from '../contracts/annotations.ts';
import { contractViolation, policyDenial } from '../contracts/failures.ts';
import type { Budgets, CapabilityPolicy, Durability, Registry, RegistryText } from '../contracts/registry.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { executableRoute } from '../package/capability.ts';
import { type ChildToolPolicy, retains } from '../package/child-tool-policy.ts';
import type { DepthBudget } from '../package/depth-budget.ts';
import type { RuntimePackage } from '../package/runtime-package.ts';
import { narrowPolicies } from '../policy/intersect-policy.ts';
import { shownNames } from '../text/names.ts';
import type { RuntimeParts } from './compile-session.ts';

export interface ChildGrant {
  /** The child's session on the host of its parent. */
  readonly session_id: string;
  readonly agent_id: string;
  /** With the whole line of descent. */
  readonly actor: string;
  /** Cut from the parent's package. */
  readonly package: RuntimePackage;
  readonly package_fingerprint: string;
  readonly tool_policy: ChildToolPolicy;
  /** All that the registry of the child was made from, widest first. */
  readonly registries: readonly RegistryText[];
  /** Also when no registry says so: an option of the host may. */
  readonly durability: Durability;
  readonly ceiling: CapabilityPolicy;
  /** Held back from the parent's: every limit an ancestor has is in it. */
  readonly budget: Budgets;
  readonly depth: DepthBudget;
  /** Folder of the other workspace that is the whole workspace of the child. */
  readonly folder?: string | undefined;
}

/** The registry of this host, narrowed by all that holds for the child where its parent is. */
export async function registryOfGrant(
  registry: Registry,
  grant: ChildGrant,
  { registryUnder }: Pick<RuntimeParts, 'registryUnder'>,
): Promise<Registry> {
  const { ceiling, budget, durability } = grant;
  if (durability === 'full' && registry.durability !== 'full') throw lessDurable();
  const narrowed = await registryUnder(registry, grant.registries);
  return Object.freeze({
    ...narrowed,
    ceiling: narrowPolicies(narrowed.ceiling, ceiling).policy,
    budgets: leastOf(narrowed.budgets, budget),
  });
}

function lessDurable(): ToolError {
  return policyDenial('What the child does here is less durable than what its parent does', {
    details: {
      gate: 'registry',
      reason: 'durability_not_offered',
      next: 'have the operator start this host with --durability full',
    },
  });
}

function leastOf(one: Budgets, other: Budgets): Budgets {
  const both = Object.keys({ ...one, ...other }) as (keyof Budgets)[];
  const infinity = Number.POSITIVE_INFINITY;
  return Object.fromEntries(
    both.map((limit) => [limit, Math.min(one[limit] ?? infinity, other[limit] ?? infinity)] as const),
  );
}

/** As deep as the parent's host allows, and no more levels than a session of this one may have below it. */
export function depthOfGrant(own: DepthBudget, { depth }: ChildGrant): DepthBudget {
  const levels = Math.min(own.max_depth - own.current_depth, depth.max_depth - depth.current_depth);
  return Object.freeze({
    current_depth: depth.current_depth,
    max_depth: depth.current_depth + Math.max(0, levels),
    max_children: Math.min(own.max_children, depth.max_children),
  });
}

interface GrantedTools {
  readonly tools: readonly AnyTool[];
  readonly withheld: ReadonlyMap<string, ToolError>;
}

/**
 * The tools of this host that the child kept, where they take the same arguments as its parent's. Throws when it was given
 * tools by name and one of them is not among these: it would work with less than it was promised.
 */
export function grantedTools(grant: ChildGrant, tools: readonly AnyTool[], { toolFacts }: ToolFacts): GrantedTools {
  const kept = new Map(grant.package.capabilities.map((capability) => [capability.capability_id, capability]));
  const withheld = new Map<string, ToolError>();
  const granted = new Set<string>();
  const usable = tools.filter((tool) => {
    const { capabilityId = `tool.${tool.name}`, schemaDigest, effect } = toolFacts(tool);
    const capability = kept.get(capabilityId);
    const annotations = tool.annotations === undefined ? undefined : completeAnnotations(tool.annotations);
    const isKept =
      capability !== undefined && retains(grant.tool_policy, capability, { effects: [effect], annotations });
    const isSame =
      capability?.projection.type === 'provider_tool_schema' && capability.projection.schema_ref === schemaDigest;
    const reason = isKept ? otherUnless(isSame, tool) : notGranted(tool.name, grant);
    if (reason === undefined) granted.add(capabilityId);
    else withheld.set(tool.name, reason);
    return reason === undefined;
  });
  requireListed(grant, granted);
  return { tools: usable, withheld };
}

type ToolFacts = Pick<RuntimeParts, 'toolFacts'>;

function requireListed({ tool_policy, package: { capabilities } }: ChildGrant, granted: ReadonlySet<string>): void {
  if (tool_policy.type !== 'custom_allowlist') return;
  const executable = capabilities.filter((capability) => executableRoute(capability) !== undefined);
  const missing = executable.map(({ capability_id }) => capability_id).filter((id) => !granted.has(id));
  if (missing.length === 0) return;
  throw contractViolation(`This host has no such tools, or other ones of these names: ${shownNames(missing)}`, {
    field: 'tools',
    reason: 'package_mismatch',
    missing,
    next: 'leave them out, or run the same version with the same tools on both hosts',
  });
}

function otherUnless(isSame: boolean, { name }: AnyTool): ToolError | undefined {
  if (isSame) return undefined;
  return policyDenial(`Tool takes other arguments here than on the host of the parent: ${name}`, {
    details: { gate: 'route', reason: 'package_mismatch', next: 'run the same version on both hosts' },
  });
}

function notGranted(name: string, { agent_id, tool_policy }: ChildGrant): ToolError {
  return policyDenial(`Tool was not handed to this child: ${name}`, {
    details: {
      gate: 'route',
      reason: 'stripped',
      agent_id,
      tool_policy: tool_policy.type,
      next: 'ask the parent to make the call, or to open a child that has the tool',
    },
  });
}
