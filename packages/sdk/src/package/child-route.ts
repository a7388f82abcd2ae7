/** Which model a child talks to: its parent's route, or one the parent's host allowed by id. */
import { z } from 'zod';
import { contractViolation, missingField } from '../contracts/failures.ts';
import type { ProviderRoute } from './package-parts.ts';
import { unknownValue } from './problems.ts';

export const ROUTE_INHERITANCES = ['inherit_parent', 'explicit_override_only'] as const;
export type RouteInheritance = (typeof ROUTE_INHERITANCES)[number];

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

/** Throws E_VALIDATION_FAIL. An override is a new route: the parent's provider policy was made for another one. */
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
