/**
 * Which of its parent's capabilities a child keeps. A policy can only narrow.
 *
 * What counts is the executor, not the kind: a capability without one cannot act and is always kept. Read-only must
 * be proved by every route and by the annotations together, because a package itself carries no effect class.
 */
import { z } from 'zod';
import { isReadOnlyKind, sideEffectRank, type ToolAnnotations } from '../contracts/annotations.ts';
import type { EffectClass } from '../contracts/classes.ts';
import { contractViolation, missingField } from '../contracts/failures.ts';
import type { CapabilityId } from '../contracts/identifiers.ts';
import { type CapabilitySpec, executableRoute } from './capability.ts';
import type { ProviderRoute } from './package-parts.ts';
import { unknownValue } from './problems.ts';
import { idSchema } from './reference-schemas.ts';

export type ChildToolPolicy =
  | { readonly type: 'inherit_allowlist' }
  | { readonly type: 'read_only' }
  | { readonly type: 'no_tools' }
  | { readonly type: 'custom_allowlist'; readonly capability_ids: readonly CapabilityId[] };

export const READ_ONLY_TOOLS: ChildToolPolicy = Object.freeze({ type: 'read_only' });

export type DeclaredEffect = Pick<ToolAnnotations, 'kind' | 'side_effect_level'>;

/** What is known about one executable capability. */
export interface CapabilityFacts {
  /** Of every route that leads to it; empty when none does. */
  readonly effects: readonly EffectClass[];
  readonly annotations: DeclaredEffect | undefined;
}

/** Left out means read-only. */
export const childToolPolicySchema: z.ZodType<ChildToolPolicy> = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('inherit_allowlist') }),
    z.strictObject({ type: z.literal('read_only') }),
    z.strictObject({ type: z.literal('no_tools') }),
    z.strictObject({ type: z.literal('custom_allowlist'), capability_ids: z.array(idSchema) }),
  ])
  .default(READ_ONLY_TOOLS);

/**
 * The policy in the one form that is recorded: listed ids sorted, each once. Throws E_VALIDATION_FAIL when it lists
 * ids that the parent, whose ids are `known`, does not have.
 */
export function settleToolPolicy(policy: ChildToolPolicy, known: ReadonlySet<CapabilityId>): ChildToolPolicy {
  switch (policy.type) {
    case 'inherit_allowlist':
    case 'read_only':
    case 'no_tools':
      return { type: policy.type };
    case 'custom_allowlist':
      return { type: policy.type, capability_ids: settleIds(policy.capability_ids, known) };
    default:
      throw unknownValue('tool_policy.type');
  }
}

export function retains(policy: ChildToolPolicy, capability: CapabilitySpec, facts: CapabilityFacts): boolean {
  if (executableRoute(capability) === undefined) return true;
  switch (policy.type) {
    case 'inherit_allowlist':
      return true;
    case 'read_only':
      return isProvablyReadOnly(facts);
    case 'no_tools':
      return false;
    case 'custom_allowlist':
      return policy.capability_ids.includes(capability.capability_id);
    default:
      throw unknownValue('tool_policy.type');
  }
}

function settleIds(ids: readonly CapabilityId[], known: ReadonlySet<CapabilityId>): readonly CapabilityId[] {
  const listed = [...new Set(ids)].sort();
  const unknown = listed.filter((id) => !known.has(id));
  if (unknown.length === 0) return listed;
  const field = 'tool_policy.capability_ids';
  throw contractViolation(`Child asks for what its parent does not have: ${field}`, {
    field,
    unknown,
    next: 'List only capability ids of the parent package',
  });
}

function isProvablyReadOnly({ effects, annotations }: CapabilityFacts): boolean {
  if (annotations === undefined || effects.length === 0) return false;
  const rank = sideEffectRank(annotations.side_effect_level);
  // An unknown level ranks below all others and proves nothing.
  const isLow = rank >= 0 && rank <= sideEffectRank('read_only');
  return isLow && isReadOnlyKind(annotations.kind) && effects.every((effect) => effect === 'read');
}

export const ROUTE_INHERITANCES = ['inherit_parent', 'explicit_override_only'] as const;
type RouteInheritance = (typeof ROUTE_INHERITANCES)[number];

export type ChildRoutePolicy =
  | { readonly type: 'inherit_parent' }
  | { readonly type: 'use_allowed_override'; readonly route_id: string; readonly model_id: string };

/** The part of a child package policy that bounds the choice. */
export interface RouteBounds {
  readonly inherit_provider_route: RouteInheritance;
  /** Route ids; the model is the child's choice within the route. */
  readonly allowed_route_overrides: readonly string[];
}

/** Shape only: an empty id is refused when a route is selected, after the allowed list had its say. */
export const childRoutePolicySchema: z.ZodType<ChildRoutePolicy> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('inherit_parent') }),
  z.strictObject({ type: z.literal('use_allowed_override'), route_id: z.string(), model_id: z.string() }),
]);

/**
 * Which model a child talks to: its parent's route, or one the parent's host allowed by id.
 *
 * Throws E_VALIDATION_FAIL. An override is a new route: the parent's provider policy was made for another one.
 */
export function selectRoute(
  policy: ChildRoutePolicy,
  parentRoute: ProviderRoute,
  childPolicy: RouteBounds,
): ProviderRoute {
  switch (policy.type) {
    case 'inherit_parent':
      return inheritedRoute(parentRoute, childPolicy.inherit_provider_route);
    case 'use_allowed_override':
      return overriddenRoute(policy.route_id, policy.model_id, childPolicy.allowed_route_overrides);
    default:
      throw unknownValue('subagent.route_policy.type');
  }
}

function inheritedRoute(parentRoute: ProviderRoute, inheritance: RouteInheritance): ProviderRoute {
  if (inheritance === 'inherit_parent') return parentRoute;
  const field = 'inherit_provider_route';
  throw contractViolation(`Child may not inherit the route of its parent: ${field}`, {
    field,
    next: 'Choose one of allowed_route_overrides',
  });
}

function overriddenRoute(route_id: string, model_id: string, allowed: readonly string[]): ProviderRoute {
  if (!allowed.includes(route_id)) {
    const field = 'subagent.route_override.route_id';
    throw contractViolation(`Child route is not on the allowed list: ${field}`, { field, allowed });
  }
  if (route_id === '' || model_id === '') throw missingField('subagent.route_override.route_id_or_model_id');
  return { route_id, model_id };
}
