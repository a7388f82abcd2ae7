import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIDE_EFFECT_LEVELS, type SideEffectLevel, TOOL_KINDS } from '../contracts/annotations.ts';
import { EFFECT_CLASSES } from '../contracts/classes.ts';
import { CAPABILITY_KINDS, type CapabilitySpec } from './capability.ts';
import {
  type CapabilityFacts,
  type ChildRoutePolicy,
  type ChildToolPolicy,
  childRoutePolicySchema,
  childToolPolicySchema,
  READ_ONLY_TOOLS,
  ROUTE_INHERITANCES,
  type RouteBounds,
  retains,
  selectRoute,
  settleToolPolicy,
} from './child-tool-policy.ts';
import { compilePackage } from './compile-package.ts';
import type { ProviderRoute } from './package-parts.ts';

const [tool] = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: [{ name: 'probe', effect: 'read', risk: 'low', schemaDigest: 'sha256:aa' }],
}).package.capabilities as [CapabilitySpec];
const { executor_ref: _executor, ...inert } = tool;

const reader: CapabilityFacts = { effects: ['read'], annotations: { kind: 'read', side_effect_level: 'read_only' } };
const writer: CapabilityFacts = {
  effects: ['write'],
  annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
};
const fetcher: CapabilityFacts = { effects: ['network'], annotations: { kind: 'fetch', side_effect_level: 'network' } };
const unknown: CapabilityFacts = { effects: [], annotations: undefined };

const inherit: ChildToolPolicy = { type: 'inherit_allowlist' };
const none: ChildToolPolicy = { type: 'no_tools' };
const only = (...capability_ids: string[]): ChildToolPolicy => ({ type: 'custom_allowlist', capability_ids });
const policies = [inherit, READ_ONLY_TOOLS, none, only(), only('tool.probe')];

describe('retains', () => {
  test('inherit_allowlist keeps every capability [S3-20]', () => {
    for (const facts of [reader, writer, fetcher, unknown]) assert.ok(retains(inherit, tool, facts));
  });

  test('read_only keeps a reader and strips a writer [S3-21]', () => {
    assert.equal(retains(READ_ONLY_TOOLS, tool, reader), true);
    assert.equal(retains(READ_ONLY_TOOLS, tool, writer), false);
  });

  test('read_only asks route, kind and level, and each can refuse alone [S3-21]', () => {
    const kept: string[] = [];
    for (const effect of EFFECT_CLASSES) {
      for (const kind of TOOL_KINDS) {
        for (const side_effect_level of SIDE_EFFECT_LEVELS) {
          const facts: CapabilityFacts = { effects: [effect], annotations: { kind, side_effect_level } };
          if (retains(READ_ONLY_TOOLS, tool, facts)) kept.push(`${effect} ${kind} ${side_effect_level}`);
        }
      }
    }
    assert.deepEqual(kept, [
      'read read none',
      'read read read_only',
      'read search none',
      'read search read_only',
      'read think none',
      'read think read_only',
      'read fetch none',
      'read fetch read_only',
    ]);
  });

  test('read_only strips what has no route, no annotation or an unknown level [S3-21]', () => {
    const strange = 'harmless' as SideEffectLevel;
    for (const facts of [
      unknown,
      { ...reader, effects: [] },
      { ...reader, annotations: undefined },
      { ...reader, annotations: { kind: 'read', side_effect_level: strange } },
    ] as const) {
      assert.equal(retains(READ_ONLY_TOOLS, tool, facts), false);
    }
  });

  test('read_only believes no route while another one of the same capability writes [S3-21]', () => {
    assert.equal(retains(READ_ONLY_TOOLS, tool, { ...reader, effects: ['read', 'read'] }), true);
    for (const effects of [
      ['read', 'write'],
      ['process', 'read'],
    ] as const) {
      assert.equal(retains(READ_ONLY_TOOLS, tool, { ...reader, effects }), false);
    }
  });

  test('a network read is kept only where it is listed [S3-21 S3-23]', () => {
    assert.deepEqual(
      policies.map((policy) => retains(policy, tool, fetcher)),
      [true, false, false, false, true],
    );
  });

  test('looks at the executor, whatever the kind [S3-22 S3-23]', () => {
    for (const kind of CAPABILITY_KINDS) {
      assert.equal(retains(none, { ...tool, kind }, reader), false, kind);
      assert.equal(retains(READ_ONLY_TOOLS, { ...tool, kind }, writer), false, kind);
      assert.equal(retains(only('tool.other'), { ...tool, kind }, reader), false, kind);
      assert.equal(retains(only('tool.probe'), { ...tool, kind }, writer), true, kind);
      for (const policy of policies) assert.equal(retains(policy, { ...inert, kind }, unknown), true, kind);
    }
  });

  test('keeps nothing for an unknown policy [S3-19]', () => {
    const strange = { type: 'everything' } as unknown as ChildToolPolicy;
    assert.throws(() => retains(strange, tool, reader), { code: 'E_VALIDATION_FAIL' });
    assert.throws(() => settleToolPolicy(strange, new Set()), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('settleToolPolicy', () => {
  const known = new Set(['tool.a', 'tool.b', 'tool.Z']);

  test('names every listed id the parent does not have [S3-23]', () => {
    assert.throws(() => settleToolPolicy(only('tool.y', 'tool.a', 'tool.x', 'tool.y'), known), {
      code: 'E_VALIDATION_FAIL',
      details: {
        kind: 'invalid_state_transition',
        retry: 'repair_needed',
        field: 'tool_policy.capability_ids',
        unknown: ['tool.x', 'tool.y'],
        next: 'List only capability ids of the parent package',
      },
    });
    assert.throws(() => settleToolPolicy(only('tool.A'), known), { code: 'E_VALIDATION_FAIL' });
  });

  test('writes one list in one way [S3-23 S3-38]', () => {
    const settled = only('tool.Z', 'tool.a', 'tool.b');
    assert.deepEqual(settleToolPolicy(only('tool.b', 'tool.Z', 'tool.a', 'tool.b'), known), settled);
    assert.deepEqual(settleToolPolicy(settled, known), settled);
    assert.deepEqual(settleToolPolicy(only(), known), only());
  });

  test('records nothing of a policy but what it says [S3-37]', () => {
    for (const policy of [inherit, READ_ONLY_TOOLS, none]) {
      assert.deepEqual(settleToolPolicy({ ...policy, note: 'x' } as unknown as ChildToolPolicy, known), policy);
    }
  });
});

describe('childToolPolicySchema', () => {
  test('reads the four variants by their tags, and read_only where nothing is given [S3-19]', () => {
    for (const policy of policies) {
      assert.deepEqual(childToolPolicySchema.parse(JSON.parse(JSON.stringify(policy))), policy);
    }
    assert.deepEqual(childToolPolicySchema.parse(undefined), { type: 'read_only' });
  });

  test('refuses anything else [S3-19]', () => {
    for (const value of [
      null,
      'read_only',
      { type: 'all' },
      { type: 'custom_allowlist' },
      { type: 'read_only', capability_ids: [] },
      only(''),
    ]) {
      assert.equal(childToolPolicySchema.safeParse(value).success, false, JSON.stringify(value));
    }
  });
});

const parentRoute: ProviderRoute = {
  route_id: 'route.parent',
  model_id: 'model.parent',
  provider_policy_ref: { kind: 'permission', id: 'policy.provider' },
};
const inheritChildRoute: ChildRoutePolicy = { type: 'inherit_parent' };
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
    assert.equal(selectRoute(inheritChildRoute, parentRoute, bounds(['route.cheap'])), parentRoute);
  });

  test('refuses to inherit where only overrides are allowed [S3-11]', () => {
    assert.deepEqual(ROUTE_INHERITANCES, ['inherit_parent', 'explicit_override_only']);
    const strict: RouteBounds = { ...bounds(['route.cheap']), inherit_provider_route: 'explicit_override_only' };
    assert.throws(() => selectRoute(inheritChildRoute, parentRoute, strict), {
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

  test('refuses an unknown policy [S3-12]', () => {
    const unknown = { type: 'any' } as unknown as ChildRoutePolicy;
    assert.throws(() => selectRoute(unknown, parentRoute, bounds()), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('childRoutePolicySchema', () => {
  test('reads both variants and nothing else [S3-12 S3-15]', () => {
    for (const policy of [inheritChildRoute, override('route.cheap')]) {
      assert.deepEqual(childRoutePolicySchema.parse(JSON.parse(JSON.stringify(policy))), policy);
    }
    for (const value of [
      undefined,
      { type: 'any' },
      { ...inheritChildRoute, route_id: 'route.cheap' },
      { type: 'use_allowed_override', route_id: 'route.cheap' },
      { ...override('route.cheap'), provider_policy_ref: { kind: 'permission', id: 'policy.mine' } },
    ]) {
      assert.equal(childRoutePolicySchema.safeParse(value).success, false);
    }
  });
});
