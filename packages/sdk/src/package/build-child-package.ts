/**
 * Cuts the package of a child agent from its parent's. Pure: it starts nothing, records nothing, reads no clock.
 *
 * A child can only lose capabilities. What stays is exactly as in the parent's package, without the facts of the
 * parent's run. The child's snapshot must be built from the returned routes.
 */
import { contractViolation } from '../contracts/failures.ts';
import { type CapabilityId, checkId } from '../contracts/identifiers.ts';
import type { PolicyRef } from '../contracts/refs.ts';
import { sha256Hex } from '../platform/digest.ts';
import { canonicalText } from './canonical-package.ts';
import type { CapabilitySpec } from './capability.ts';
import {
  type ChildRoutePolicy,
  type ChildToolPolicy,
  type DeclaredEffect,
  READ_ONLY_TOOLS,
  type RouteBounds,
  retains,
  selectRoute,
  settleToolPolicy,
} from './child-tool-policy.ts';
import { type ContextHandoff, NO_HANDOFF, validateHandoff } from './context-handoff.ts';
import { fingerprintPackage } from './fingerprint.ts';
import type { ProviderRoute } from './package-parts.ts';
import { manifestSidecar, type StripManifest } from './package-parts.ts';
import { createPackage, frozenCopy, type RuntimePackage } from './runtime-package.ts';
import type { ToolRoute } from './tool-router.ts';

export interface ChildPackageInput {
  readonly parent: RuntimePackage;
  /** The parent's own: what is missing here counts as unknown, and a read-only child loses it. */
  readonly routes: readonly ToolRoute[];
  /** Of tools that declare any; the same holds for what is missing. */
  readonly annotations: ReadonlyMap<CapabilityId, DeclaredEffect>;
  readonly childAgentId: string;
  readonly routePolicy: ChildRoutePolicy;
  readonly childPolicy: ChildPackagePolicy;
  /** None unless given. */
  readonly handoff?: ContextHandoff;
  /** Read-only unless given. */
  readonly toolPolicy?: ChildToolPolicy;
}

export interface ChildPackage {
  readonly package: RuntimePackage;
  readonly fingerprint: string;
  readonly manifest: StripManifest;
  /** The parent's routes to what the child kept. */
  readonly routes: readonly ToolRoute[];
}

/** Throws E_VALIDATION_FAIL for the first check that fails; the order of the checks is part of the contract. */
export function buildChildPackage(input: ChildPackageInput): ChildPackage {
  const { parent, childAgentId, childPolicy } = input;
  const { handoff = NO_HANDOFF, toolPolicy = READ_ONLY_TOOLS } = input;
  const parentFingerprint = fingerprintPackage(parent);
  validateHandoff(handoff);
  checkSource(childPolicy, parentFingerprint);
  const providerRoute = selectRoute(input.routePolicy, parent.provider_route, childPolicy);
  checkId(childAgentId, 'child_agent_id');
  const ids = new Set(parent.capabilities.map((capability) => capability.capability_id));
  const settledPolicy = settleToolPolicy(toolPolicy, ids);
  const retained = new Set(retainedIds(input, settledPolicy));
  const manifest = frozenCopy<StripManifest>({
    parent_package_fingerprint: parentFingerprint,
    child_agent_id: childAgentId,
    selected_provider_route_id: providerRoute.route_id,
    handoff_policy_variant: handoff.type,
    tool_policy: settledPolicy,
    recursive_subagent_strip: true,
    stripped_capability_ids: [...ids.difference(retained)].sort(),
    retained_capability_ids: [...retained].sort(),
    lifecycle_policy_ref: childPolicy.child_lifecycle_bounds,
    redaction_policy_ref: childPolicy.redaction_policy_ref,
  });
  const child = cutPackage(parent, providerRoute, manifest);
  return {
    package: child,
    fingerprint: fingerprintPackage(child),
    manifest,
    routes: input.routes.filter((route) => retained.has(route.capability_id)),
  };
}

function checkSource(childPolicy: ChildPackagePolicy, parentFingerprint: string): void {
  if (childPolicy.strip_recursive_subagents !== true) {
    const field = 'strip_recursive_subagents';
    throw contractViolation(`Children never keep the tools that start or steer agents: ${field}`, { field });
  }
  if (childPolicy.source_parent_package !== parentFingerprint) {
    const field = 'source_parent_package';
    throw contractViolation(`Child package policy was made for another parent: ${field}`, {
      field,
      next: 'Make the policy from the fingerprint of the package that is in force now',
    });
  }
}

function retainedIds(input: ChildPackageInput, toolPolicy: ChildToolPolicy): CapabilityId[] {
  const { parent, annotations, childPolicy } = input;
  const routes = Map.groupBy(input.routes, (route) => route.capability_id);
  const isKept = (capability: CapabilitySpec): boolean => {
    if (isAgentControl(capability, childPolicy)) return false;
    if (childPolicy.strip_disallowed_tools === false) return true;
    const effects = routes.get(capability.capability_id)?.map((route) => route.effect_class) ?? [];
    return retains(toolPolicy, capability, { effects, annotations: annotations.get(capability.capability_id) });
  };
  return parent.capabilities.filter(isKept).map((capability) => capability.capability_id);
}

function isAgentControl(capability: CapabilitySpec, childPolicy: ChildPackagePolicy): boolean {
  return capability.kind === 'agent_as_tool' || childPolicy.parent_control_tool_ids.includes(capability.capability_id);
}

function cutPackage(parent: RuntimePackage, providerRoute: ProviderRoute, manifest: StripManifest): RuntimePackage {
  const { child_agent_id, lifecycle_policy_ref, redaction_policy_ref } = manifest;
  const retained = new Set(manifest.retained_capability_ids);
  const sidecar = manifestSidecar(manifest);
  return createPackage({
    ...parent,
    package_id: childPackageId(child_agent_id, manifest.parent_package_fingerprint),
    agent: { ...parent.agent, agent_id: child_agent_id, name: child_agent_id },
    provider_route: providerRoute,
    child_lifecycle: {
      ...parent.child_lifecycle,
      policy_ref: lifecycle_policy_ref,
      detach_policy_ref: lifecycle_policy_ref,
    },
    capabilities: parent.capabilities.filter(({ capability_id }) => retained.has(capability_id)),
    sidecars: [...parent.sidecars.filter(({ sidecar_id }) => sidecar_id !== sidecar.sidecar_id), sidecar],
    policies: { policy_refs: withPolicy(parent.policies.policy_refs, redaction_policy_ref) },
    volatile: {},
  });
}

function childPackageId(childAgentId: string, parentFingerprint: string): string {
  return `package.subagent.${childAgentId}.${sha256Hex(parentFingerprint).slice(0, 16)}`;
}

function withPolicy(refs: readonly PolicyRef[], added: PolicyRef): readonly PolicyRef[] {
  const text = canonicalText(added);
  return refs.some((ref) => canonicalText(ref) === text) ? refs : [...refs, added];
}

/** Capabilities to control children or to talk to the parent; a child gets none of them. */
export const PARENT_CONTROL_TOOLS: readonly CapabilityId[] = Object.freeze([
  'tool.subagent_send_message',
  'tool.subagent_reply_to_clarification',
  'tool.subagent_ask_parent',
  'tool.subagent_read_parent_messages',
  'tool.subagent_monitor',
]);

export interface ChildPackagePolicy extends RouteBounds {
  /** Fingerprint of the one parent package this policy was made for. */
  readonly source_parent_package: string;
  /** Must be true; a policy that says otherwise builds no child. */
  readonly strip_recursive_subagents: boolean;
  /** False: the tool policy is recorded but strips nothing. */
  readonly strip_disallowed_tools: boolean;
  readonly child_lifecycle_bounds: PolicyRef;
  readonly redaction_policy_ref: PolicyRef;
  readonly parent_control_tool_ids: readonly CapabilityId[];
}

/** What a child package inherits, and the limits it gets. */
export function childPackageDefaults(sourceParentFingerprint: string): ChildPackagePolicy {
  return frozenCopy<ChildPackagePolicy>({
    source_parent_package: sourceParentFingerprint,
    inherit_provider_route: 'inherit_parent',
    allowed_route_overrides: [],
    strip_recursive_subagents: true,
    strip_disallowed_tools: true,
    child_lifecycle_bounds: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
    redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
    parent_control_tool_ids: PARENT_CONTROL_TOOLS,
  });
}
