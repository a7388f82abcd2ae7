import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type ChildRoutePolicy,
  childRoutePolicySchema,
  ROUTE_INHERITANCES,
  type RouteBounds,
  selectRoute,
} from './child-route.ts';
import type { ProviderRoute } from './package-parts.ts';

const parentRoute: ProviderRoute = {
  route_id: 'route.parent',
  model_id: 'model.parent',
  provider_policy_ref: { kind: 'permission', id: 'policy.provider' },
};
const inherit: ChildRoutePolicy = { type: 'inherit_parent' };
const override = (route_id: string, model_id = 'model.child'): ChildRoutePolicy => ({
  type: 'use_allowed_override',
  route_id,
  model_id,
});
const bounds = (allowed: readonly string[] = []): RouteBounds => ({
  inherit_provider_route: 'inherit_parent',
  allowed_route_overrides: allowed,
});

describe('selectRoute', () => {
  test('inherits the route of the parent unchanged [S3-12]', () => {
    assert.equal(selectRoute(inherit, parentRoute, bounds(['route.cheap'])), parentRoute);
  });

  test('refuses to inherit where only overrides are allowed [S3-11]', () => {
    assert.deepEqual(ROUTE_INHERITANCES, ['inherit_parent', 'explicit_override_only']);
    const strict: RouteBounds = { ...bounds(['route.cheap']), inherit_provider_route: 'explicit_override_only' };
    assert.throws(() => selectRoute(inherit, parentRoute, strict), {
      code: 'E_VALIDATION_FAIL',
      details: {
        kind: 'invalid_state_transition',
        retry: 'repair_needed',
        field: 'inherit_provider_route',
        next: 'Choose one of allowed_route_overrides',
      },
    });
    assert.equal(selectRoute(override('route.cheap'), parentRoute, strict).route_id, 'route.cheap');
  });

  test('refuses an override that is not on the allowed list [S3-13]', () => {
    for (const [route, allowed] of [
      ['route.cheap', []],
      ['route.cheap', ['route.cheaper', 'Route.cheap']],
      ['route.parent', ['route.cheap']],
    ] as const) {
      assert.throws(() => selectRoute(override(route), parentRoute, bounds(allowed)), {
        code: 'E_VALIDATION_FAIL',
        message: 'Child route is not on the allowed list: subagent.route_override.route_id',
        details: {
          kind: 'invalid_state_transition',
          retry: 'repair_needed',
          field: 'subagent.route_override.route_id',
          allowed,
        },
      });
    }
  });

  test('asks the allowed list first and for missing ids second [S3-13 S3-14]', () => {
    assert.throws(() => selectRoute(override('', ''), parentRoute, bounds()), {
      code: 'E_VALIDATION_FAIL',
      message: /allowed list/,
    });
  });

  test('reports an empty route or model id as a missing field [S3-14]', () => {
    const field = 'subagent.route_override.route_id_or_model_id';
    for (const policy of [override(''), override('route.cheap', '')]) {
      assert.throws(() => selectRoute(policy, parentRoute, bounds(['', 'route.cheap'])), {
        code: 'E_VALIDATION_FAIL',
        path: field,
        details: { kind: 'invalid_package', retry: 'host_configuration_needed', field },
      });
    }
  });

  test('an accepted override is a fresh route without the provider policy of the parent [S3-15]', () => {
    const route = selectRoute(override('route.cheap'), parentRoute, bounds(['route.cheap']));
    assert.deepEqual(route, { route_id: 'route.cheap', model_id: 'model.child' });
    const same = selectRoute(override('route.parent', 'model.parent'), parentRoute, bounds(['route.parent']));
    assert.deepEqual(same, { route_id: 'route.parent', model_id: 'model.parent' });
  });

  test('refuses a policy nobody knows [S3-12]', () => {
    const unknown = { type: 'any' } as unknown as ChildRoutePolicy;
    assert.throws(() => selectRoute(unknown, parentRoute, bounds()), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('childRoutePolicySchema', () => {
  test('reads both variants and nothing else [S3-12 S3-15]', () => {
    for (const policy of [inherit, override('route.cheap')]) {
      assert.deepEqual(childRoutePolicySchema.parse(JSON.parse(JSON.stringify(policy))), policy);
    }
    for (const value of [
      undefined,
      { type: 'any' },
      { ...inherit, route_id: 'route.cheap' },
      { type: 'use_allowed_override', route_id: 'route.cheap' },
      { ...override('route.cheap'), provider_policy_ref: { kind: 'permission', id: 'policy.mine' } },
    ]) {
      assert.equal(childRoutePolicySchema.safeParse(value).success, false);
    }
  });
});
